/**
 * Random work against one memory store. The store keeps its counts, rings and heaps by the way; here
 * they are compared with what a walk over all jobs says, after every step.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { JobSummary, KeyLifetime } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { memoryStore } from "./index.ts";

const QUEUES = ["mail", "sms"];
const WHY = { reason: "test", by: "ann" };
const FAILURE = { category: "network", message: "no", stack: null, fingerprint: null } as const;
const LIFETIMES: KeyLifetime[] = ["kept", "until-finished", { ttlMs: 40 }];
const OUTCOMES: Outcome[] = [
  { kind: "succeed", result: "1", resultDropped: false },
  { kind: "retry", afterMs: 20, spend: true, failure: FAILURE },
  { kind: "retry", afterMs: 0, spend: false, failure: FAILURE },
  { kind: "snooze", afterMs: 30 },
  { kind: "release", afterMs: 0 },
  { kind: "cancel", reason: null },
  { kind: "die", reason: "failed", failure: FAILURE, ran: true },
  { kind: "die", reason: "poison", failure: FAILURE, ran: false },
];

interface World {
  readonly store: Store;
  readonly leases: LeasedJob[];
  advance(ms: number): void;
}

/** What a step does; a, b and c are its dice. */
type Step = (world: World, a: number, b: number, c: number) => Promise<unknown>;

const STEPS: Record<string, Step> = {
  insert: ({ store }, a, b, c) =>
    store.insert([
      {
        id: `job-${a % 25}`,
        queue: pick(QUEUES, b),
        group: `g-${c % 3}`,
        type: "t",
        payload: "{}",
        priority: c % 4,
        delayMs: a % 2 === 0 ? 0 : b % 50,
        runAt: null,
        maxAttempts: 1 + (c % 3),
        dedupe: b % 3 === 0 ? null : { key: `k-${a % 4}`, hash: "h", lifetime: pick(LIFETIMES, c) },
        tags: [],
        meta: null,
        trace: null,
      },
    ]),
  lease: async ({ store, leases }, a, b, c) => {
    const queues = QUEUES.map((queue) => ({ queue, limit: 1 + (b % 3) }));
    const { jobs } = await store.lease({
      worker: "w",
      leaseMs: 10 + (c % 50),
      limit: a % 5,
      queues,
    });
    leases.push(...jobs);
    if (jobs.length === 0 && a % 5 > 0) await expectNothingOpen(store);
  },
  settle: ({ store, leases }, a, b, c) =>
    store.settle(
      leases.slice(a % (leases.length + 1), (a % (leases.length + 1)) + 3).map((lease) => ({
        ...lease,
        outcome: pick(OUTCOMES, b),
        discard: c % 4 === 0,
      })),
    ),
  renew: ({ store, leases }, a) => store.renew(leases.slice(-3), 20 + (a % 50)),
  reap: ({ store }, a) => store.reap({ limit: a % 4 }),
  cancel: ({ store }, a) => store.cancel({ ids: [{ id: `job-${a % 25}` }] }, WHY),
  revive: ({ store }, a, b) =>
    store.revive(
      { filter: {}, frozenAt: Infinity, limit: a % 5 },
      { attempts: 1, delayMs: b % 40, runAt: null },
      WHY,
    ),
  reschedule: ({ store }, a, b) =>
    store.reschedule({ ids: [{ id: `job-${a % 25}` }] }, { delayMs: b % 60, runAt: null }, WHY),
  remove: ({ store }, a) => store.remove({ ids: [{ id: `job-${a % 25}` }] }, WHY),
  prune: ({ store }, a, b) =>
    store.prune([{ queue: null, status: "succeeded", olderThanMs: a % 60, keep: b % 3 }], 4),
  hold: ({ store }, a, b, c) =>
    store.hold([
      {
        queue: pick(QUEUES, a),
        group: b % 4 === 0 ? null : `g-${b % 3}`,
        owner: `owner-${c % 2}`,
        hold: c % 3 === 0 ? { forMs: a % 30, reason: "r", by: null } : null,
      },
    ]),
  limit: ({ store }, a, b, c) =>
    store.limit([
      b % 3 === 0
        ? { queue: pick(QUEUES, a), group: null, maxActive: c % 2 === 0 ? null : c % 5 }
        : { queue: pick(QUEUES, a), group: `g-${b % 3}`, maxActive: c % 3, weight: 1 + (a % 3) },
    ]),
  time: async ({ advance }, a) => advance((a % 40) - 5),
};

function pick<T>(items: readonly T[], dice: number): T {
  const item = items[dice % items.length];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

async function expectNothingOpen(store: Store): Promise<void> {
  for (const name of QUEUES) {
    const { queue, lines } = await store.lines(name, { limit: 100 });
    if (queue === null || queue.holds.length > 0) continue;
    if (queue.maxActive !== null && queue.active >= queue.maxActive) continue;
    for (const { waiting, active, maxActive, holds } of lines) {
      const isOpen = holds.length === 0 && (maxActive === null || active < maxActive);
      expect(waiting > 0 && isOpen, `a ready job in an open line of ${name}`).toBe(false);
    }
  }
}

async function expectCountsToAgree(store: Store, jobs: readonly JobSummary[]): Promise<void> {
  const now = await store.now();
  for (const counts of await store.count()) {
    const own = jobs.filter((job) => job.queue === counts.queue);
    const of = (status: string) => own.filter((job) => job.status === status).length;
    const queued = own.filter((job) => job.status === "queued");
    const ready = queued.filter((job) => job.runAt <= now);
    expect(counts).toEqual({
      queue: counts.queue,
      ready: ready.length,
      delayed: queued.length - ready.length,
      processing: of("processing"),
      succeeded: of("succeeded"),
      dead: of("dead"),
      cancelled: of("cancelled"),
      retrying: queued.filter((job) => job.attempts > 0).length,
      oldestReadyAt: ready.length === 0 ? null : Math.min(...ready.map((job) => job.runAt)),
    });
    const { lines, queue } = await store.lines(counts.queue, { limit: 100 });
    expect(queue?.active).toBe(counts.processing);
    expect(lines.reduce((sum, line) => sum + line.active, 0)).toBe(counts.processing);
    expect(lines.reduce((sum, line) => sum + line.waiting, 0)).toBe(counts.ready);
  }
}

it("what a memory store counts by the way is what a walk over its jobs counts", async () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat(), fc.nat(), fc.nat());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 80, maxLength: 120 }), async (steps) => {
      let host = 1_000_000;
      const store = memoryStore({ now: () => host, remembersMs: 100 });
      await store.open();
      const world: World = { store, leases: [], advance: (ms) => void (host += ms) };
      const fences = new Map<string, number>();
      for (const [name, a, b, c] of steps) {
        await STEPS[name]?.(world, a, b, c);
        const { jobs } = await store.find({}, { limit: 1_000 });
        await expectCountsToAgree(store, jobs);
        for (const job of jobs) {
          expect(job.attempts).toBeGreaterThanOrEqual(0);
          expect(job.attempts).toBeLessThanOrEqual(job.maxAttempts);
          // A job that was forgotten and inserted again begins anew: only its next lease is above.
          if (job.fence > 0) expect(job.fence).toBeGreaterThanOrEqual(fences.get(job.id) ?? 0);
          fences.set(job.id, Math.max(job.fence, fences.get(job.id) ?? 0));
        }
      }
    }),
    { numRuns: 60 },
  );
});
