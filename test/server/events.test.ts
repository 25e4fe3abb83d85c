/** Server-sent events: one read for all, bounded for each, resumable. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeEvent, EventClient } from "../../packages/server/src/events/event-client.ts";
import { listenTo, parsedEvents } from "./listen-events.ts";
import { ADMIN_TOKEN, serve, type Served } from "./served.ts";

describe("events", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve("sqlite", { enqueue: "any" });
    served.hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    served.hf.define({ type: "bill.send", queue: "bills", run: async () => null });
    await served.hf.work();
  });
  afterAll(() => served?.close());

  const listen = (path: string, headers: Record<string, string> = {}) =>
    listenTo(served.url, path, headers);

  it("an overview comes each second, and many listeners cost one read", async () => {
    const { hf } = served;
    let reads = 0;
    const { counts } = hf;
    hf.counts = () => ((reads += 1), counts.call(hf));
    const ears = await Promise.all(Array.from({ length: 20 }, () => listen("")));
    for (let round = 0; round < 2; round += 1) {
      const all = await Promise.all(ears.map((ear) => ear.next("overview")));
      expect(all[0]?.data).toMatchObject({ totals: { dead: 0 } });
    }
    for (const ear of ears) ear.close();
    hf.counts = counts;
    expect(reads).toBeLessThanOrEqual(4);
  });

  it("changes of jobs come by filter, and what was missed comes after a break", async () => {
    const ear = await listen("?queue=mail");
    await ear.next("overview");
    await ear.next("overview");
    const first = await served.hf.enqueue("mail.send" as never, {} as never);
    await served.hf.enqueue("bill.send" as never, {} as never);
    const heard = await ear.next("jobs");
    expect(heard.data.items).toMatchObject([{ id: first.id, queue: "mail", status: "succeeded" }]);
    const stays = await listen("?queue=mail");
    await stays.next("overview");
    ear.close();
    const second = await served.hf.enqueue("mail.send" as never, { n: 2 } as never);
    await stays.next("jobs");
    const back = await listen("?queue=mail", { "last-event-id": heard.id });
    const missed = await back.next("jobs");
    expect(missed.data.items).toMatchObject([{ id: second.id }]);
    const stranger = await listen("", { "last-event-id": "elsewhere.7" });
    expect((await stranger.next("reset")).data).toEqual({ reason: "too much has happened since" });
    for (const one of [back, stays, stranger]) one.close();
  });

  it("a listener that does not read keeps one overview and a bounded number of events", async () => {
    const client = new EventClient(() => {});
    for (let n = 0; n < 10_000; n += 1) {
      client.send(encodeEvent(`a.${n}`, "overview", { n }));
      client.send(encodeEvent(`a.${n}`, "jobs", { n }));
    }
    expect(client.waiting).toBeLessThanOrEqual(201);
    const heard = parsedEvents(client.stream);
    let isTold = false;
    for (let n = 0; n < 201 && !isTold; n += 1)
      isTold = (await heard.next()).value?.name === "reset";
    expect(isTold).toBe(true);
    client.close();
  });

  it("a token that is removed and a session that is left end their streams, and no others", async () => {
    const role = { role: "viewer" };
    const { token, secret } = await served.data("POST", "/api/v1/tokens", { body: role });
    const other = await served.token("viewer");
    const login = await served.call("POST", "/api/v1/session", { token: other });
    const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const removed = await listen("", { authorization: `Bearer ${secret}` });
    const stays = await listen("", { authorization: `Bearer ${other}` });
    const left = await listenTo(served.url, "", { cookie }, null);
    for (const ear of [removed, stays, left]) await ear.next("overview");
    await served.data("DELETE", `/api/v1/tokens/${token.id}`);
    const logout = { token: null, headers: { cookie, "sec-fetch-site": "same-origin" } };
    await served.data("DELETE", "/api/v1/session", logout);
    for (const ear of [removed, left]) {
      await expect(ear.next("never")).rejects.toThrow("it ended before never came");
    }
    await stays.next("overview");
    stays.close();
  });

  it("a server that closes ends its streams", async () => {
    const own = await serve("sqlite");
    const answer = await fetch(`${own.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const closed = own.close();
    while (!(await reader.read().catch(() => ({ done: true }))).done);
    await closed;
  });
});
