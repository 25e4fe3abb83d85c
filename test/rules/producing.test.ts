import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  DuplicateJobError,
  IdempotencyConflictError,
  JobNotFoundError,
  PayloadValidationError,
  QueueFullError,
  StoreUnavailableError,
  UnknownTypeError,
  WaitTimeoutError,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { openWorld, STORES, type World } from "./world.ts";

describe.each(STORES)("producing and waiting on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("a key lives as long as it was told to", async () => {
    const { hf } = world.process();
    hf.define({
      type: "work",
      retry: { maxAttempts: 1 },
      run(job) {
        if (job.payload === "dies") throw new Error("no");
        return "done";
      },
    });
    const kept = { idempotencyKey: "kept" };
    const timed = { idempotencyKey: "timed", idempotencyTtlMs: 60_000 };
    const unfinished = {
      idempotencyKey: "unfinished",
      idempotencyTtlMs: "until-finished",
    } as const;
    const dead = { idempotencyKey: "dead" };
    const first = await hf.enqueue("work", 1, kept);
    await hf.enqueue("work", 1, timed);
    await hf.enqueue("work", 1, unfinished);
    const dying = await hf.enqueue("work", "dies", dead);
    expect(await hf.enqueue("work", 1, unfinished)).toMatchObject({ status: "duplicate" });
    await hf.work();
    await world.until(async () => (await hf.counts())["default"]?.succeeded === 3);
    await world.until(async () => (await hf.job(dying.id))?.status === "dead");

    expect(await hf.enqueue("work", 1, kept)).toMatchObject({
      status: "duplicate",
      id: first.id,
      jobStatus: "succeeded",
      outcome: { status: "succeeded", result: "done" },
    });
    expect(await hf.enqueue("work", 1, timed)).toMatchObject({ status: "duplicate" });
    expect(await hf.enqueue("work", 1, unfinished)).toMatchObject({ status: "added" });
    expect(await hf.enqueue("work", "dies", dead)).toMatchObject({
      status: "duplicate",
      outcome: { status: "dead", reason: "failed" },
    });
    await world.advance(61_000);
    expect(await hf.enqueue("work", 1, timed)).toMatchObject({ status: "added" });
    await hf.remove(first.id);
    expect(await hf.enqueue("work", 1, kept)).toMatchObject({ status: "added" });
  });

  it("fifty enqueues of one key make one job", async () => {
    const first = world.process();
    const second = world.process();
    const receipts = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        (at % 2 ? first : second).hf.enqueue("work", { n: 1 }, { queue: "q", idempotencyKey: "k" }),
      ),
    );
    expect(receipts.filter(({ status }) => status === "added")).toHaveLength(1);
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
  });

  it("a key with another payload is a conflict", async () => {
    const { hf } = world.process();
    const options = { queue: "q", idempotencyKey: "k" };
    const { id } = await hf.enqueue("work", { a: 1, b: 2 }, options);
    // The order of keys is not a difference.
    expect(await hf.enqueue("work", { b: 2, a: 1 }, options)).toMatchObject({
      status: "duplicate",
    });
    const error = await hf.enqueue("work", { a: 2 }, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdempotencyConflictError);
    expect(error).toMatchObject({ jobId: id, code: "HOLDFAST_IDEMPOTENCY_CONFLICT" });
    expect(await hf.enqueue("work", { a: 2 }, { ...options, onConflict: "return" })).toMatchObject({
      status: "duplicate",
      id,
    });
    await expect(
      hf.enqueue("work", { a: 1, b: 2 }, { ...options, onDuplicate: "throw" }),
    ).rejects.toThrow(DuplicateJobError);
  });

  it("an unregistered type needs a queue", async () => {
    const { hf } = world.process();
    await expect(hf.enqueue("elsewhere", null)).rejects.toThrow(UnknownTypeError);
    expect(await hf.enqueue("elsewhere", null, { queue: "other" })).toMatchObject({
      status: "added",
      queue: "other",
    });
  });

  it("one bad item does not spoil the others", async () => {
    const { hf } = world.process();
    hf.define({ type: "strict", payload: z.object({ n: z.number() }), run: () => {} });
    await hf.limit("small", { maxWaiting: 1 });
    const answers = await hf.enqueueAll([
      { type: "strict", payload: { n: 1 } },
      { type: "strict", payload: { n: "one" } },
      { type: "free", payload: null, queue: "small" },
      { type: "free", payload: null, queue: "small" },
      { type: "free", payload: null, queue: "q", idempotencyKey: "k" },
      { type: "free", payload: 2, queue: "q", idempotencyKey: "k" },
      { type: "nowhere", payload: null },
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      "added",
      "refused",
      "added",
      "refused",
      "added",
      "refused",
      "refused",
    ]);
    const errors = answers.map((answer) => (answer.status === "refused" ? answer.error : null));
    expect(errors[1]).toBeInstanceOf(PayloadValidationError);
    expect(errors[3]).toBeInstanceOf(QueueFullError);
    expect(errors[5]).toBeInstanceOf(IdempotencyConflictError);
    expect(errors[6]).toBeInstanceOf(UnknownTypeError);
  });

  it("only an unreachable store throws for all", async () => {
    const away = (store: Store): Store => ({
      ...store,
      insert: async () => {
        throw new StoreUnavailableError("away", { mayHaveHappened: false });
      },
    });
    const { hf } = world.process({ link: (store) => proxied(store, away) });
    await expect(hf.enqueueAll([{ type: "x", payload: null, queue: "q" }])).rejects.toThrow(
      StoreUnavailableError,
    );
  });

  it("a lost reply is asked for again and is no duplicate", async () => {
    let losses = 0;
    const areNew: unknown[] = [];
    const lossy = (store: Store): Store => ({
      ...store,
      insert: async (jobs, options) => {
        areNew.push(options?.areNew);
        const results = await store.insert(jobs, options);
        if ((losses += 1) < 3) throw new StoreUnavailableError("lost", { mayHaveHappened: true });
        return results;
      },
    });
    const { hf } = world.process({ link: (store) => proxied(store, lossy) });
    const enqueuing = hf.enqueue("work", null, { queue: "q", idempotencyKey: "k" });
    await world.advance(1_000);
    expect(await enqueuing).toMatchObject({ status: "added" });
    expect(losses).toBe(3);
    expect(areNew).toEqual([true, false, false]);
    expect((await hf.jobs()).jobs).toHaveLength(1);
  });

  it("waitFor answers with how the job ended", async () => {
    const { hf } = world.process({ retention: { cancelled: { maxAgeMs: 0 } } });
    hf.define({
      type: "work",
      retry: { maxAttempts: 1 },
      run(job) {
        if (job.payload === "throw") throw new Error("no");
        if (job.payload === "cancel") return job.cancel();
        return job.payload;
      },
    });
    const good = await hf.enqueue("work", "return");
    const bad = await hf.enqueue("work", "throw");
    const gone = await hf.enqueue("work", "cancel");
    const never = await hf.enqueue("work", "later", { delayMs: 1_000_000 });
    await hf.work();
    expect(await hf.waitFor(good)).toMatchObject({ status: "succeeded", result: "return" });
    expect(await hf.waitFor(bad.id)).toMatchObject({ status: "dead", reason: "failed" });
    expect(await hf.waitFor(gone)).toEqual({ status: "pruned", id: gone.id });
    await expect(hf.waitFor("01890000-0000-7000-8000-000000000000")).rejects.toThrow(
      JobNotFoundError,
    );
    const waiting = expect(hf.waitFor(never, { timeoutMs: 5_000 })).rejects.toThrow(
      WaitTimeoutError,
    );
    await world.advance(5_500);
    await waiting;
  });
});

/** Replaces some verbs of a store, whatever kind of object it is. */
function proxied(store: Store, change: (store: Store) => Store): Store {
  const changed = change(store);
  return new Proxy(store, {
    get(target, verb, receiver) {
      if (verb === "insert") return changed.insert;
      const member: unknown = Reflect.get(target, verb, receiver);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
