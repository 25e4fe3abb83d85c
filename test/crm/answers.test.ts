/** Answers that the double does not give: what a client makes of them decides whether a job is tried again. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubSpotClient, type HubSpotError } from "@holdfast/crm";
import { InvalidOptionError } from "holdfast";
import { classifyHubSpot } from "../../packages/crm/src/hubspot/hubspot-error.ts";
import { readAnswer } from "../../packages/crm/src/hubspot/read-answer.ts";

describe("an odd answer", () => {
  let server: Server;
  let client: HubSpotClient;
  let answer: (response: ServerResponse) => void;
  let asked: string[];
  let cooled: number[];
  beforeEach(async () => {
    asked = [];
    cooled = [];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      request.resume().on("end", () => answer(response));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    client = new HubSpotClient({
      ...{ token: "pat-eu1-none", retry: { minMs: 1, maxMs: 40 } },
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      calls: {
        ...{ acquire: () => Promise.resolve(), heard: () => {} },
        coolDown: (ms) => Promise.resolve(void cooled.push(ms)),
      },
    });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const json = (status: number, body: unknown, headers = {}) => {
    answer = (response) => response.writeHead(status, headers).end(JSON.stringify(body));
  };
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => expect.unreachable("it went well"),
      (error: unknown) => error as HubSpotError,
    );
  const input = (id: string) => ({ idProperty: "email", id, properties: { email: id } });
  const two = [input("a@example.com"), input("b@example.com")];

  it("of an account that is being moved: the job comes back when it says, unspent", async () => {
    json(477, { message: "being migrated" }, { "retry-after": "7200" });
    const error = await failure(client.account());
    expect(error.isRetryable).toBe(true);
    expect(classifyHubSpot(error)).toMatchObject({ permanent: false, retryAfterMs: 7_200_000 });
  });

  it("that says nothing of an input is no refusal of it, whatever another input got", async () => {
    const context = { objectWriteTraceId: ["0"] };
    json(207, { results: [], errors: [{ category: "VALIDATION_ERROR", message: "no", context }] });
    const results = await client.upsert("contacts", two);
    const permanent = results.map((one) => !one.ok && classifyHubSpot(one.error)?.permanent);
    expect(permanent).toEqual([true, undefined]);
  });

  it.each([
    ["INTERNAL_ERROR", undefined],
    ["RATE_LIMITS", false],
    ["MISSING_SCOPES", true],
    ["VALIDATION_ERROR", true],
  ])("of 207 with %s inside is judged by that word", async (category, permanent) => {
    json(207, { results: [], errors: [{ category, message: "no" }] });
    const error = await failure(client.upsertOne("contacts", input("a@example.com")));
    expect(classifyHubSpot(error)?.permanent).toBe(permanent);
  });

  it("without an end is not read to its end", async () => {
    const part = Buffer.alloc(1024 * 1024, " ");
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(part));
      };
      response.on("drain", more);
      more();
    };
    const error = await failure(client.account());
    expect(error.message).toContain("more than");
    expect(error.isRetryable).toBe(true);
  });

  it("that asks to come back at once, again and again, is no invitation to hurry", async () => {
    json(429, { policyName: "TEN_SECONDLY_ROLLING" }, { "retry-after": "0" });
    const error = await failure(client.account());
    expect(cooled).toEqual([1, 2, 4, 8, 16]);
    expect(classifyHubSpot(error)?.retryAfterMs).toBe(10_000);
  });

  it.each(["", ".", ".."])("is never asked for by the id %j, which is another path", async (id) => {
    json(200, {});
    await expect(client.archive("contacts", id)).rejects.toThrow(InvalidOptionError);
    expect(asked).toEqual([]);
  });
});

describe("the daily limit", () => {
  const afterMs = async (now: string, timeZone: string) => {
    const reply = Response.json({ policyName: "DAILY" }, { status: 429 });
    const asking = { method: "GET", path: "/", timeZone, now: Date.parse(now) };
    return readAnswer(reply, asking).catch((error: HubSpotError) => error.retryAfterMs);
  };

  it("ends with the account's day, however long that one is", async () => {
    expect(await afterMs("2026-11-19T22:59:59Z", "Europe/Berlin")).toBe(1_000);
    expect(await afterMs("2026-11-19T11:00:00Z", "Europe/Berlin")).toBe(12 * 3_600_000);
    // Clocks go back, and forward, in that night's day.
    expect(await afterMs("2026-10-24T22:30:00Z", "Europe/Berlin")).toBe(24.5 * 3_600_000);
    expect(await afterMs("2026-03-28T23:30:00Z", "Europe/Berlin")).toBe(22.5 * 3_600_000);
  });

  it("that is refused right after midnight was lifted late: it is asked again, and no day is lost", async () => {
    expect(await afterMs("2026-11-19T23:00:00Z", "Europe/Berlin")).toBe(60_000);
    expect(await afterMs("2026-11-19T23:09:59Z", "Europe/Berlin")).toBe(60_000);
    expect(await afterMs("2026-11-19T23:10:00Z", "Europe/Berlin")).toBe(86_400_000 - 600_000);
  });
});
