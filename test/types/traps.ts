/**
 * Mistakes that must not compile, each with the one that a new user made. Never run: `npm run types` is the
 * test, and every `@ts-expect-error` is a claim.
 */
import { z } from "zod";
import {
  defineJob,
  Holdfast,
  type Jsonified,
  type Receipt,
} from "../../packages/holdfast/src/index.ts";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { testHoldfast } from "../../packages/holdfast/src/testing/index.ts";

/** The receipt of a Holdfast that is not resilient. */
type Stored<Result> = Receipt<Result, "added" | "duplicate">;
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectType<Expected>() {
  return <Actual>(_value: Actual, _same: Equal<Expected, Actual>) => {};
}

const store = memoryStore();
const charge = defineJob({
  type: "card.charge",
  payload: z.object({ cents: z.number() }),
  result: z.object({ chargeId: z.string(), at: z.date() }),
});

/** U1: one name for groups. */
export async function groups(): Promise<void> {
  const hf = new Holdfast({ store });
  // @ts-expect-error -- it is called group
  await hf.enqueue("t", null, { queue: "q", groupKey: "tenant-7" });
  // @ts-expect-error -- it is called group
  await hf.pause({ queue: "q", groupKey: "tenant-7" });
  // @ts-expect-error -- it is called group
  await hf.limit({ queue: "q", groupKey: "tenant-7" }, { maxActive: 1 });
  // @ts-expect-error -- it is called group
  await hf.jobs({ groupKey: "tenant-7" });
  // @ts-expect-error -- it is called timeoutMs
  await hf.waitFor("id", { timeout: 5 });
}

/** U2: results, spawned jobs and steps. */
export async function results(): Promise<void> {
  const hf = new Holdfast({ store, jobs: [charge] });
  hf.handle(charge, async () => ({ chargeId: "c-1", at: new Date() }));
  // @ts-expect-error -- a result of the wrong shape
  hf.handle(charge, async () => ({ chargeId: 7, at: new Date() }));
  // @ts-expect-error -- no result at all
  hf.handle(charge, async () => {});
  // @ts-expect-error -- a result of the wrong shape, by the name of a type that `jobs` has
  hf.handle("card.charge", async () => ({ chargeId: 7, at: new Date() }));
  hf.handle("card.charge", async (job) => ({
    chargeId: String(job.payload.cents),
    at: new Date(),
  }));
  hf.handle("by.name", async () => 7);
  // An intent is no result.
  hf.handle(charge, async (job) => job.snooze(1_000));

  // What waitFor gives is what JSON gives back: the Date is text.
  const receipt = await hf.enqueue(charge, { cents: 100 });
  expectType<Stored<{ chargeId: string; at: string }>>()(receipt, true);

  const refund = hf.define({
    type: "card.refund",
    payload: z.object({ cents: z.number() }),
    result: z.object({ ok: z.boolean() }),
    run: (job) => ({ ok: job.payload.cents > 0 }),
  });
  expectType<Stored<{ ok: boolean }>>()(await refund.enqueue({ cents: 1 }), true);
  hf.define({
    type: "card.wrong",
    payload: z.object({ cents: z.number() }),
    result: z.object({ ok: z.boolean() }),
    // @ts-expect-error -- a result of the wrong shape
    run: () => ({ ok: "yes" }),
  });
  hf.define({
    type: "card.also-wrong",
    result: z.object({ ok: z.boolean() }),
    // @ts-expect-error -- a result of the wrong shape, without a payload schema
    run: async () => 7,
  });
  const silent = hf.define({ type: "silent", run: async () => {} });
  expectType<Stored<null>>()(await silent.enqueue(null), true);

  hf.handle("parent", async (job) => {
    await job.spawn(charge, { cents: 100 });
    // @ts-expect-error -- a payload of the wrong shape
    await job.spawn(charge, { cents: "100" });
    await job.spawn("by.name", { any: "thing" }, { queue: "q" });
    const paid = await job.step("pay", () => ({ at: new Date(), id: 7, note: undefined }));
    expectType<string>()(paid.at, true);
    expectType<number>()(paid.id, true);
    // @ts-expect-error -- a Date comes back as text
    paid.at.getTime();
    expectType<void>()(await job.step("mail", async () => {}), true);
  });
}

/** What JSON gives back. */
export function json(): void {
  type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
  const same = <Value>(value: Jsonified<Value>): Jsonified<Value> => value;
  expectType<string[]>()(same<Date[]>([]), true);
  expectType<[number, string]>()(same<[number, Date]>([1, ""]), true);
  expectType<unknown>()(same<unknown>(1), true);
  expectType<{ a?: string; b: { readonly c: null | string } }>()(
    same<{ a?: string; b: { readonly c: Date | null } }>({ b: { c: null } }),
    true,
  );
  same<Json>([{ a: [1] }]);
  // @ts-expect-error -- JSON cannot write a bigint, and nothing comes back of it
  same<bigint>(1n);
}

/** U6: an instance is an instance. */
export async function parameters(): Promise<void> {
  const app = (hf: Holdfast): unknown => hf.enqueue("any.type", { any: "thing" }, { queue: "q" });
  app(new Holdfast({ store }));
  app(new Holdfast({ store, jobs: [charge] }));
  app(new Holdfast({ store, resilient: "inline" }));
  app(new Holdfast({ store, jobs: [charge], resilient: { spool: "spool.db" } }));
  app(await connect("memory:", { jobs: [charge] }));
  app(testHoldfast({ jobs: [charge] }).hf);
  const some = (hf: Holdfast<readonly [typeof charge]>): unknown =>
    hf.enqueue("card.charge", { cents: 1 });
  some(new Holdfast({ store, jobs: [charge] }));
}

/** U7: a connection is no store. */
export async function stores(): Promise<void> {
  // @ts-expect-error -- connect makes a Holdfast
  void new Holdfast({ store: await connect("memory:") });
  // @ts-expect-error -- connect makes its store from the URL
  await connect("memory:", { store });
}

/** What a call refuses at run time does not compile either. */
export async function operated(): Promise<void> {
  const hf = new Holdfast({ store });
  // @ts-expect-error -- a tenant is erased by hf.erase
  await hf.operations.plan({ action: "erase", filter: { queue: "q" } });
  // @ts-expect-error -- a count looks up no jobs
  await hf.failures.count({ withJobs: true });
}

/** Two words for one thing: only one of them may be said. */
export async function either(): Promise<void> {
  const hf = new Holdfast({ store, jobs: [charge] });
  const [runAt, expiresAt] = [new Date(), new Date()];
  await hf.enqueue("t", null, { queue: "q", delayMs: 5, expiresAfterMs: 10 });
  await hf.enqueue("t", null, { queue: "q", runAt, expiresAt, priority: 3 });
  await hf.enqueue("t", null, { queue: "q", runAt, delayMs: undefined });
  // @ts-expect-error -- due in a while, or at a time
  await hf.enqueue("t", null, { queue: "q", delayMs: 5, runAt });
  // @ts-expect-error -- due in a while, or at a time
  await hf.enqueue(charge, { cents: 1 }, { delayMs: 5, runAt });
  // @ts-expect-error -- too late in a while, or at a time
  await hf.enqueue("t", null, { queue: "q", expiresAfterMs: 5, expiresAt });
  // @ts-expect-error -- the same in an item
  charge.of({ cents: 1 }, { delayMs: 5, runAt });

  const job = charge.of({ cents: 1 });
  hf.schedule("nightly", { cron: "0 3 * * *", timeZone: "Europe/Berlin", job });
  hf.schedule("often", { everyMs: 60_000, startAfterMs: 0, job, overlap: "queue" });
  // @ts-expect-error -- when?
  hf.schedule("never", { job });
  // @ts-expect-error -- by an expression, or by an interval
  hf.schedule("both", { cron: "0 3 * * *", everyMs: 60_000, job });
  // @ts-expect-error -- an interval is the same in every zone
  await hf.schedules.set("zoned", { everyMs: 60_000, timeZone: "UTC", job });
  // @ts-expect-error -- when?
  await hf.schedules.preview({});
}

/** Items know their contracts, too. */
export async function items(): Promise<void> {
  const hf = new Holdfast({ store, jobs: [charge] });
  const other = defineJob({ type: "other", payload: z.object({ list: z.array(z.number()) }) });
  await hf.enqueueAll([
    { type: "card.charge", payload: { cents: 1 }, priority: 7 },
    { type: "by.name", payload: ["any", "thing"], queue: "q" },
    charge.of({ cents: 1 }, { delayMs: 5 }),
    other.of({ list: [1, 2] }),
  ]);
  await hf.enqueueAll([1, 2].map((cents) => charge.of({ cents })));
  await hf.enqueueAll(
    [1, 2].map((cents) => ({ type: "card.charge" as const, payload: { cents } })),
  );
  const mixed = [charge.of({ cents: 1 }), other.of({ list: [] })];
  await hf.enqueueAll(mixed);
  await hf.enqueueAll([]);
  // @ts-expect-error -- a payload of the wrong shape
  await hf.enqueueAll([{ type: "card.charge", payload: { cents: "1" } }]);
  // @ts-expect-error -- a payload of the wrong shape, behind one that is right
  await hf.enqueueAll([charge.of({ cents: 1 }), { type: "card.charge", payload: null }]);
  // @ts-expect-error -- it is called group
  await hf.enqueueAll([{ type: "by.name", payload: null, queue: "q", groupKey: "tenant-7" }]);
  // @ts-expect-error -- due in a while, or at a time
  await hf.enqueueAll([{ type: "by.name", payload: null, delayMs: 5, runAt: new Date() }]);
  // @ts-expect-error -- inside a transaction it is the same
  await hf.within({}).enqueueAll([{ type: "card.charge", payload: { cents: "1" } }]);
}
