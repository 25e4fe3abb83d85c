/** Jobs to put in, and what is said of running ones. */
import { HISTORY_LENGTH, LOG_LENGTH } from "../../packages/holdfast/src/core/job.ts";
import type { DedupeKey, Failure, Step } from "../../packages/holdfast/src/core/job.ts";
import type { Outcome } from "../../packages/holdfast/src/core/outcome.ts";
import type { Updates } from "../../packages/holdfast/src/core/store.ts";
import { drawEntry } from "./draw-records.ts";
import type { Draw } from "./draw.ts";
import type { Arbitrary } from "./fast-check.ts";
import type {
  DrawnAdoption,
  DrawnJob,
  DrawnLease,
  DrawnRenewal,
  DrawnSettlement,
} from "./operation.ts";
import { PAYLOADS, QUEUES, TYPES } from "./small-world.ts";

const REFUSED: Failure = {
  category: "network",
  message: "connect ECONNREFUSED",
  stack: "Error: connect ECONNREFUSED\n    at send (mail.ts:7:3)",
  fingerprint: "send network",
};
const FORBIDDEN: Failure = { category: "auth", message: "401", stack: null, fingerprint: null };
const FAILURES = [REFUSED, FORBIDDEN];

const CHARGED: Step = { name: "charge", value: "1" };
const CHARGED_AGAIN: Step = { name: "charge", value: "2" };
const MAILED: Step = { name: "mail", value: "{}" };

/** Only what is there: an absent update leaves everything as it is. */
const UPDATES: readonly Updates[] = [
  { progress: { percent: 50, message: null } },
  { progress: { percent: 0, message: "rendered ☃" } },
  { logs: ["one line"] },
  { logs: ["two", "lines"], checkpoint: '{"row":2}' },
  { checkpoint: "null" },
  { steps: [CHARGED] },
  { steps: [CHARGED_AGAIN, MAILED] },
  {},
];

function drawKey(draw: Draw): Arbitrary<DedupeKey> {
  return draw.record<DedupeKey>({
    key: draw.key,
    hash: draw.from(["hash-1", "hash-2"]),
    lifetime: draw.choice<DedupeKey["lifetime"]>(
      { weight: 2, arbitrary: draw.from(["kept", "until-finished"]) },
      { weight: 1, arbitrary: draw.record({ ttlMs: draw.durationMs }) },
    ),
  });
}

/** Alike but for what is in them: a store may keep such jobs together. */
export function drawPlainJob(draw: Draw): Arbitrary<DrawnJob> {
  return draw.record<DrawnJob>({
    id: draw.id,
    queue: draw.from([QUEUES[0]]),
    group: draw.from([""]),
    type: draw.from([TYPES[0]]),
    payload: draw.from(PAYLOADS),
    priority: draw.from([100]),
    delayMs: draw.from([0]),
    dueInMs: draw.from([null]),
    maxAttempts: draw.from([2]),
    dedupe: draw.from([null]),
    tags: draw.some(draw.tag, 2),
    meta: draw.from([null, '{"by":"x"}']),
    trace: draw.from([null, "trace-1"]),
  });
}

export function drawJob(draw: Draw): Arbitrary<DrawnJob> {
  return draw.record<DrawnJob>({
    id: draw.id,
    queue: draw.queue,
    group: draw.group,
    type: draw.type,
    payload: draw.from(PAYLOADS),
    priority: draw.from([100, 0, 8191, 70_000, 2 ** 31 - 1]),
    delayMs: draw.from([0, 0, 0, 0, 0, 0, 0, 1, 10, 0.5, 60_000]),
    dueInMs: draw.rarely(draw.inMs),
    maxAttempts: draw.from([2, 1, 5]),
    dedupe: draw.sometimes(drawKey(draw)),
    tags: draw.some(draw.tag, 2),
    meta: draw.from([null, '{"by":"x"}']),
    trace: draw.from([null, "trace-1"]),
  });
}

export function drawAdoption(draw: Draw): Arbitrary<DrawnAdoption> {
  return draw.record<DrawnAdoption>({
    id: draw.id,
    queue: draw.queue,
    group: draw.group,
    type: draw.type,
    status: draw.from(["queued", "queued", "succeeded", "dead", "cancelled"]),
    priority: draw.from([100, 0]),
    payload: draw.from(["{}", '{"to":"bob"}']),
    result: draw.from([null, "42"]),
    attempts: draw.from([0, 1, 2]),
    maxAttempts: draw.from([2, 5]),
    crashes: draw.from([0, 1, 1]),
    fence: draw.from([0, 200]),
    error: draw.rarely(draw.from(FAILURES)),
    reason: draw.from([null, null, "failed"]),
    checkpoint: draw.from([null, null, '{"row":1}']),
    steps: draw.from(ADOPTED_STEPS),
    // As many as are kept, so that one more drops the oldest.
    logs: draw.from([0, 1, LOG_LENGTH]),
    history: draw.from([0, 1, 2, HISTORY_LENGTH]),
    dedupe: draw.sometimes(drawKey(draw)),
    tags: draw.some(draw.tag, 2),
    meta: draw.from([null, '{"by":"y"}']),
    trace: draw.from([null, "trace-2"]),
    createdInMs: draw.agoMs,
    dueInMs: draw.inMs,
    startedInMs: draw.rarely(draw.agoMs),
    finishedInMs: draw.rarely(draw.agoMs),
  });
}

const ADOPTED_STEPS: readonly (readonly Step[])[] = [[], [MAILED], [CHARGED, MAILED]];

export function drawLease(draw: Draw): Arbitrary<DrawnLease> {
  return draw.record<DrawnLease>({
    back: draw.fc.nat(5),
    fence: draw.from(["own", "own", "own", "own", "own", "own", "low", "high"]),
  });
}

function drawOutcome(draw: Draw): Arbitrary<Outcome> {
  const { fc, durationMs: afterMs } = draw;
  const failure = draw.from(FAILURES);
  const succeed = draw.record({
    kind: fc.constant("succeed"),
    result: draw.from([null, '{"ok":true}']),
    resultDropped: draw.from([false, true]),
  });
  const retry = draw.record({
    kind: fc.constant("retry"),
    afterMs,
    spend: draw.from([true, false]),
    failure,
  });
  const die = draw.record({
    kind: fc.constant("die"),
    reason: draw.from(["failed", "poison"]),
    failure,
    ran: draw.from([true, false]),
  });
  const cancel = draw.record({ kind: fc.constant("cancel"), reason: draw.from([null, "enough"]) });
  return draw.choice<Outcome>(
    { weight: 4, arbitrary: succeed },
    { weight: 3, arbitrary: retry },
    { weight: 1, arbitrary: draw.record({ kind: fc.constant("snooze"), afterMs }) },
    { weight: 1, arbitrary: draw.record({ kind: fc.constant("release"), afterMs }) },
    { weight: 1, arbitrary: cancel },
    { weight: 2, arbitrary: die },
  );
}

export function drawRenewal(draw: Draw): Arbitrary<DrawnRenewal> {
  return draw.record<DrawnRenewal>({
    lease: drawLease(draw),
    updates: draw.rarely(draw.from(UPDATES)),
    order: draw.from([null, 1, 2, 3]),
    starts: draw.from([false, true]),
  });
}

export function drawSettlement(draw: Draw): Arbitrary<DrawnSettlement> {
  return draw.record<DrawnSettlement>({
    lease: drawLease(draw),
    updates: draw.rarely(draw.from(UPDATES)),
    outcome: drawOutcome(draw),
    spawn: draw.few(drawJob(draw)),
    entries: draw.fewHere(drawEntry(draw)),
    outbox: draw.few(drawEntry(draw)),
    discard: draw.from([false, false, false, true]),
  });
}
