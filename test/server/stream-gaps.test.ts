/** What listeners are told: all that they missed or that something is missing, and of no outage that is none. */
import { afterEach, describe, expect, it } from "vitest";
import { listenTo } from "./listen-events.ts";
import { openHub } from "./open-hub.ts";
import { serve, type Served } from "./served.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

async function served(...given: Parameters<typeof serve>): Promise<Served> {
  const own = await serve(...given);
  closings.push(() => own.close());
  return own;
}

describe("a stream of events", () => {
  it("tells of the store alone: without a ledger nothing is away", async () => {
    const own = await served("sqlite", {}, { ledger: false });
    const ear = await listenTo(own.url);
    const names = [];
    for (let heard = 0; heard < 6; heard += 1) names.push((await ear.any()).name);
    expect(new Set(names)).toEqual(new Set(["overview"]));
    expect(own.said).toEqual([]);
    ear.close();
  });

  it("tells of the first operation of all", async () => {
    const own = await served("sqlite");
    await own.hf.enqueue("mail.send", {}, { queue: "mail", delayMs: 60_000 });
    const ear = await listenTo(own.url);
    await ear.next("overview");
    const plan = await own.hf.operations.plan({ action: "cancel", filter: { queue: "mail" } });
    const { id } = await plan.start();
    expect((await ear.next("operations")).data.items).toMatchObject([{ id }]);
    ear.close();
  });

  it("goes on where it was for who lost it for a moment, with nobody else there", async () => {
    const own = await served("sqlite");
    own.hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    await own.hf.work();
    const ear = await listenTo(own.url, "?queue=mail");
    await ear.next("overview");
    const { id: lastId } = await ear.next("overview");
    ear.close();
    const { id } = await own.hf.enqueue("mail.send" as never, {} as never);
    await own.hf.waitFor(id);
    const back = await listenTo(own.url, "?queue=mail", { "last-event-id": lastId });
    expect((await back.next("jobs")).data.items).toMatchObject([{ id }]);
    back.close();
  });

  it("tells who comes back after a gap in which nobody watched to load anew", async () => {
    const { time, listen, close } = openHub();
    closings.push(close);
    const first = listen({ jobs: {} });
    await first.next();
    const { value } = await first.next();
    await first.return(undefined);
    time.now += 60_000;
    const back = listen({ jobs: {}, lastId: value?.id ?? "" });
    expect((await back.next()).value?.name).toBe("reset");
    // Who does not ask for jobs has missed none.
    const other = listen({ lastId: value?.id ?? "" });
    expect((await other.next()).value?.name).toBe("overview");
  });
});
