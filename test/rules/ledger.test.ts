import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PermanentError, UnsupportedError, type Store } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { outage } from "./outage.ts";
import { openWorld, STORES, type Process, type World } from "./world.ts";

describe.each(STORES)("the ledger of jobs on %s", (name) => {
  let world: World;
  /** Another store, for the ledger alone. */
  let elsewhere: Store;
  beforeEach(async () => {
    world = await openWorld(name);
    elsewhere = memoryStore({ now: () => world.time.now });
    await elsewhere.open();
  });
  afterEach(() => world.close());

  /** Every job of this type fails twice; one with "hopeless" dies of it. */
  function failing({ hf }: Process): void {
    hf.define({
      type: "work",
      retry: { maxAttempts: 2, baseMs: 100, jitter: 0 },
      run(job) {
        if (job.payload === "hopeless") throw new PermanentError("never");
        throw Object.assign(new Error("try 7 of 9"), { code: "ECONNRESET" });
      },
    });
  }

  async function idsElsewhere(): Promise<string[]> {
    const { entries } = await elsewhere.ledger.read({}, { limit: 200 });
    return entries.filter(({ kind }) => kind !== "alert").map(({ id }) => id);
  }

  it("every failed attempt is an entry, and the last of a dead letter is open", async () => {
    const process = world.process({ ledger: "store" });
    const { hf } = process;
    failing(process);
    const { id } = await hf.enqueue("work", 1, { group: "tenant-7" });
    await hf.work();
    await world.advance(1_000);
    expect(await hf.job(id)).toMatchObject({ status: "dead" });
    const { entries } = await hf.ledger({ kind: "failure", jobId: id });
    const about = { type: "work", queue: "default", group: "tenant-7", category: "network" };
    expect(entries).toMatchObject([
      { ...about, state: "open", body: { attempt: 2, isFinal: true, reason: "failed" } },
      { ...about, state: "retrying", body: { attempt: 1, isFinal: false, retryInMs: 100 } },
    ]);
    expect(entries[0]?.body).toMatchObject({ message: "try 7 of 9", maxAttempts: 2 });
    expect((await hf.ledger({ state: "open" })).entries).toHaveLength(1);
    expect((await hf.ledger({ to: new Date(0) })).entries).toEqual([]);
  });

  it("what changed something is an audit with who and why", async () => {
    const process = world.process({ ledger: "store" });
    const { hf } = process;
    failing(process);
    const { id } = await hf.enqueue("work", "hopeless");
    await hf.cancel(id, { reason: "a mistake", by: "ada" });
    await hf.retry(id, { by: "bob" });
    expect(await hf.retry(id)).toBe("refused");
    await hf.pause("default", { reason: "night", forMs: 1_000 });
    await hf.resume("default");
    await hf.limit({ queue: "default", group: "g" }, { maxActive: 3 });
    hf.define({ type: "stop", run: (job) => job.cancel("not needed") });
    const stopped = await hf.enqueue("stop", null);
    await hf.work();
    await hf.waitFor(stopped);
    await hf.remove(id, { by: "cy" });
    const { entries } = await hf.ledger({ kind: "audit" });
    expect(entries.toReversed().map(({ jobId, body }) => [jobId, body])).toMatchObject([
      [id, { action: "cancel", by: "ada", reason: "a mistake", worker: null }],
      [id, { action: "retry", by: "bob", details: { hasNewPayload: false } }],
      [null, { action: "pause", reason: "night", details: { forMs: 1_000 } }],
      [null, { action: "resume" }],
      [null, { action: "limit", details: { maxActive: 3 } }],
      [stopped.id, { action: "cancel", reason: "not needed", worker: expect.any(String) }],
      [id, { action: "remove", by: "cy" }],
    ]);
    expect(entries.find(({ queue, group }) => queue === "default" && group === "g")).toBeDefined();
  });

  it("without a ledger nothing is written, and asking for it says how to have one", async () => {
    const process = world.process({ ledger: false });
    failing(process);
    await process.hf.enqueue("work", "hopeless");
    await process.hf.work();
    await world.advance(100);
    expect((await world.store.ledger.read({}, { limit: 10 })).entries).toEqual([]);
    await expect(process.hf.ledger()).rejects.toThrow(UnsupportedError);
  });

  it("no entry is lost or doubled while a ledger elsewhere is away and a worker dies", async () => {
    const gap = outage();
    const first = world.process({ ledger: gap.link(elsewhere) });
    const second = world.process({ ledger: gap.link(elsewhere) });
    for (const process of [first, second]) failing(process);
    const jobs = Array.from({ length: 120 }, () => ({ type: "work", payload: "hopeless" }));
    const dead = async () => (await world.store.count())[0]?.dead ?? 0;

    await first.hf.enqueueAll(jobs.slice(0, 40));
    await first.hf.work();
    await world.advance(3_000);
    expect(await idsElsewhere()).toHaveLength(40);

    // Down from the start of a call to the end of the outage: jobs go on as ever.
    gap.mode = "away";
    await first.hf.enqueueAll(jobs.slice(40, 80));
    await world.advance(3_000);
    expect(await dead()).toBe(80);
    expect(await idsElsewhere()).toHaveLength(40);
    expect(first.hf.health()).toMatchObject({ ok: true, ledger: { ok: false } });
    expect(first.said.filter((said) => said.startsWith("the ledger does not"))).toHaveLength(1);

    // It dies after its entries have arrived, and before it could know.
    gap.mode = "silent";
    await world.advance(2_000);
    expect(await idsElsewhere()).toHaveLength(80);
    first.kill();
    gap.mode = "none";
    await second.hf.enqueueAll(jobs.slice(80));
    await second.hf.work();
    await world.advance(3_000);
    expect(await dead()).toBe(120);
    const ids = await idsElsewhere();
    expect(ids).toHaveLength(120);
    expect(new Set(ids).size).toBe(120);
    expect(await world.store.outbox.read(10)).toEqual([]);
    expect(second.hf.health()).toMatchObject({ ledger: { ok: true } });
  });

  it("an entry tells when it happened, not when a ledger elsewhere heard of it", async () => {
    const gap = outage();
    gap.mode = "away";
    const process = world.process({ ledger: gap.link(elsewhere) });
    failing(process);
    const { id } = await process.hf.enqueue("work", "hopeless");
    await process.hf.work();
    await world.until(async () => (await process.hf.job(id))?.status === "dead");
    const diedAt = world.time.now;
    await process.hf.retry(id, { by: "ada" });
    await world.advance(60_000);
    gap.mode = "none";
    await world.advance(2_000);
    const { entries } = await process.hf.ledger({ kind: "failure" });
    expect(entries.at(-1)?.at.getTime()).toBe(diedAt);
    // An operator's action waits beside the jobs too.
    const audits = await process.hf.ledger({ kind: "audit" });
    expect(audits.entries).toMatchObject([{ body: { action: "retry", by: "ada" } }]);
    expect(audits.entries[0]?.at.getTime()).toBe(diedAt);
  });

  it("entries are kept as long as they were told to", async () => {
    const day = 86_400_000;
    const ledger = { failure: { maxAgeMs: day }, audit: null };
    const process = world.process({ ledger: elsewhere, retention: { ledger } });
    failing(process);
    const { id } = await process.hf.enqueue("work", "hopeless");
    await process.hf.work();
    await world.advance(1_500);
    await process.hf.retry(id);
    await world.advance(2_000);
    expect(await idsElsewhere()).toHaveLength(3);
    await process.hf.close();
    world.time.leap(2 * day);
    const later = world.process({ ledger: elsewhere, retention: { ledger } });
    failing(later);
    await later.hf.work();
    await world.advance(61_000);
    const { entries } = await elsewhere.ledger.read({}, { limit: 10 });
    expect(entries.map(({ kind }) => kind)).toEqual(["audit"]);
  });
});
