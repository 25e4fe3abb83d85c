/** Every verb of the seam, drawn often enough that long sequences get somewhere. */
import { FINISHED_STATUSES } from "../../packages/holdfast/src/core/job.ts";
import { DEAD_KEYS } from "../../packages/holdfast/src/core/store-calls.ts";
import { drawAdoption, drawJob, drawLease, drawPlainJob } from "./draw-jobs.ts";
import { drawRenewal, drawSettlement } from "./draw-jobs.ts";
import { drawHold, drawLimit, drawTakenQueues } from "./draw-lines.ts";
import { drawAmendment, drawEntry, drawLedgerFilter, drawSwap } from "./draw-records.ts";
import type { Draw } from "./draw.ts";
import type { Arbitrary, Weighted } from "./fast-check.ts";
import type { DrawnRetention, DrawnTarget, Of, Operation, Verb } from "./operation.ts";
import { DISOWNING_WORKERS, DURATIONS_MS, RECORD_KEYS } from "./small-world.ts";
import { ROOMY_BYTES, WORKERS } from "./small-world.ts";

/** How much one call does. */
interface Size {
  batch<T>(item: Arbitrary<T>): Arbitrary<T[]>;
  readonly leaseLimits: readonly number[];
  readonly reapLimits: readonly number[];
}

/** For one caller: batches of several items, filters, and every look. */
export function drawAnyOperation(draw: Draw): Arbitrary<Operation> {
  return draw.choice<Operation>(
    ...working(draw, {
      batch: (item) => draw.some(item),
      leaseLimits: [2, 1, 50],
      reapLimits: [50, 50, 50, 1, 0],
    }),
    { weight: 3, arbitrary: drawDisown(draw) },
    ...(draw.hasTransactions ? [{ weight: 8, arbitrary: drawWithin(draw) }] : []),
    ...operating(draw, draw.target),
    ...looking(draw),
    ...keeping(draw),
    { weight: 8, arbitrary: is(draw, "advance", { ms: draw.durationMs }) },
    { weight: 1, arbitrary: is(draw, "reopen", {}) },
  );
}

/**
 * For callers at once: one item a call, because only an item is promised to be one step. That is why
 * nobody disowns here: each job that goes back is a step of its own.
 */
export function drawSingleOperation(draw: Draw): Arbitrary<Operation> {
  const id = draw.one(draw.id);
  const entries = draw.one(drawEntry(draw));
  return draw.choice<Operation>(
    ...working(draw, { batch: (item) => draw.one(item), leaseLimits: [1], reapLimits: [1] }),
    ...operating(draw, draw.record({ ids: id })),
    { weight: 3, arbitrary: is(draw, "get", { ids: id }) },
    { weight: 12, arbitrary: is(draw, "records.swap", { swaps: draw.one(drawSwap(draw)) }) },
    { weight: 1, arbitrary: is(draw, "ledger.append", { entries }) },
  );
}

function working(draw: Draw, { batch, leaseLimits, reapLimits }: Size): Weighted<Operation>[] {
  const leaseMs = draw.from([1_000, 10, 10, 10, 60_000]);
  const insert = is(draw, "insert", {
    jobs: batch(drawJob(draw)),
    evenIfFull: draw.from([false, false, false, true]),
    areNew: draw.from([false, true]),
  });
  const insertAlike = is(draw, "insert", {
    jobs: batch(drawPlainJob(draw)),
    evenIfFull: draw.from([false]),
    areNew: draw.from([true, true, false]),
  });
  const lease = is(draw, "lease", {
    worker: draw.from(WORKERS),
    leaseMs,
    limit: draw.from(leaseLimits),
    cappedLimit: draw.from([50, 50, 50, 50, 1, 0]),
    maxBytes: draw.from(BOUNDS_IN_BYTES),
    queues: drawTakenQueues(draw),
  });
  const renew = is(draw, "renew", { renewals: batch(drawRenewal(draw)), leaseMs });
  const settlements = batch(drawSettlement(draw));
  const reap = is(draw, "reap", { limit: draw.from(reapLimits) });
  return [
    { weight: 10, arbitrary: insert },
    { weight: 8, arbitrary: insertAlike },
    { weight: 3, arbitrary: is(draw, "adopt", { jobs: batch(drawAdoption(draw)) }) },
    { weight: 18, arbitrary: lease },
    { weight: 10, arbitrary: renew },
    { weight: 14, arbitrary: is(draw, "settle", { settlements }) },
    { weight: 8, arbitrary: reap },
  ];
}

/** Smaller than any payload, room for two small ones or so, for the large one and some, for all. */
const BOUNDS_IN_BYTES = [null, null, null, null, 1, 25, 130, ROOMY_BYTES];

function drawDisown(draw: Draw): Arbitrary<Operation> {
  return is(draw, "disown", {
    worker: draw.from(DISOWNING_WORKERS),
    // All of them: a store may look further than it was told to, or not.
    queues: draw.allQueues,
    except: draw.choice<Of<"disown">["except"]>(
      { weight: 3, arbitrary: draw.some(drawLease(draw)) },
      { weight: 1, arbitrary: draw.from(["all"]) },
    ),
  });
}

function drawWithin(draw: Draw): Arbitrary<Operation> {
  return is(draw, "within", {
    jobs: draw.some(
      draw.choice(
        { weight: 1, arbitrary: drawPlainJob(draw) },
        { weight: 1, arbitrary: drawJob(draw) },
      ),
    ),
    evenIfFull: draw.from([false, false, false, true]),
    areNew: draw.from([false, true]),
    settlements: draw.some(drawSettlement(draw)),
    first: draw.from(["insert", "settle"]),
    ends: draw.from(["commit", "commit", "rollback"]),
  });
}

const NEW_PAYLOADS: readonly Of<"revive">["payload"][] = [
  null,
  null,
  { json: '{"new":1}', hash: "hash-2" },
  { json: '{"new":2}', hash: null },
];

function operating(draw: Draw, target: Arbitrary<DrawnTarget>): Weighted<Operation>[] {
  const { due, person: by } = draw;
  const policy = draw.record<DrawnRetention>({
    queue: draw.rarely(draw.queue),
    status: draw.from(FINISHED_STATUSES),
    olderThanMs: draw.from([null, ...DURATIONS_MS]),
    keep: draw.from([null, 0, 1]),
  });
  const revive = is(draw, "revive", {
    target,
    due,
    attempts: draw.from([1, 2]),
    payload: draw.from(NEW_PAYLOADS),
    by,
  });
  const policies = draw.some(policy, 2);
  return [
    { weight: 3, arbitrary: is(draw, "cancel", { target, by }) },
    { weight: 3, arbitrary: revive },
    { weight: 2, arbitrary: is(draw, "reschedule", { target, due }) },
    { weight: 2, arbitrary: is(draw, "remove", { target }) },
    { weight: 2, arbitrary: is(draw, "prune", { policies, limit: draw.from([1, 50]) }) },
    { weight: 3, arbitrary: is(draw, "hold", { changes: draw.one(drawHold(draw)) }) },
    { weight: 3, arbitrary: is(draw, "limit", { changes: draw.one(drawLimit(draw)) }) },
  ];
}

function looking(draw: Draw): Weighted<Operation>[] {
  const { filter, queue } = draw;
  const limit = draw.from([50, 1, 2]);
  const order = draw.from(["newest", "oldest"]);
  const by = draw.from(DEAD_KEYS);
  return [
    { weight: 2, arbitrary: is(draw, "get", { ids: draw.some(draw.id) }) },
    { weight: 1, arbitrary: is(draw, "place", { id: draw.id }) },
    { weight: 3, arbitrary: is(draw, "find", { filter, limit, order }) },
    { weight: 1, arbitrary: is(draw, "count", {}) },
    { weight: 1, arbitrary: is(draw, "countDead", { by, queue: draw.rarely(queue) }) },
    { weight: 2, arbitrary: is(draw, "lines", { queue, limit }) },
  ];
}

/** Ledger, records and outbox. */
function keeping(draw: Draw): Weighted<Operation>[] {
  const limit = draw.from([50, 1, 2]);
  const entries = draw.some(drawEntry(draw));
  const filter = drawLedgerFilter(draw);
  const amendments = draw.some(drawAmendment(draw));
  const kind = draw.from(["failure", "audit"]);
  const olderThanMs = draw.rarely(draw.durationMs);
  const keep = draw.from([null, 0, 1]);
  const upTo = draw.from([1, 50]);
  const keys = draw.some(draw.from(RECORD_KEYS));
  const swaps = draw.some(drawSwap(draw));
  const prefix = draw.from(["gate:", "gate", ""]);
  const back = draw.some(draw.fc.nat(2), 2);
  return [
    { weight: 2, arbitrary: is(draw, "ledger.append", { entries }) },
    { weight: 1, arbitrary: is(draw, "ledger.read", { filter, limit }) },
    { weight: 1, arbitrary: is(draw, "ledger.amend", { amendments }) },
    { weight: 1, arbitrary: is(draw, "ledger.remove", { amendments }) },
    {
      weight: 1,
      arbitrary: is(draw, "ledger.trim", { kind, olderThanMs, keep, limit }),
    },
    { weight: 1, arbitrary: is(draw, "ledger.count", { filter, upTo }) },
    { weight: 1, arbitrary: is(draw, "records.read", { keys }) },
    { weight: 5, arbitrary: is(draw, "records.swap", { swaps }) },
    { weight: 1, arbitrary: is(draw, "records.scan", { prefix, limit }) },
    { weight: 1, arbitrary: is(draw, "outbox.read", { limit }) },
    { weight: 1, arbitrary: is(draw, "outbox.clear", { back }) },
  ];
}

type Parts<V extends Verb> = {
  [K in keyof Omit<Of<V>, "verb">]: Arbitrary<Of<V>[K & keyof Of<V>]>;
};

function is<V extends Verb>(draw: Draw, verb: V, parts: Parts<V>): Arbitrary<Operation> {
  const whole: Record<string, Arbitrary<unknown>> = { verb: draw.fc.constant(verb), ...parts };
  // The parts fit the verb; the type checker cannot put the two together again.
  return draw.record(whole) as Arbitrary<unknown> as Arbitrary<Operation>;
}
