/** Steps, logs and attempts, as the scripts keep them (lua/job.lua). */
import type { AttemptRecord, Failure, LogLine, Step } from "../../core/job.ts";
import type { Reply } from "./client-like.ts";
import { bytes, rows, text } from "./reply.ts";

/** A step's value has its number of six digits in front. */
export function readSteps(reply: readonly Reply[]): Step[] {
  return rows(reply, 2)
    .map(([name, value]) => ({ name: text(name), value: text(value) }))
    .sort((a, b) => (a.value.slice(0, 6) < b.value.slice(0, 6) ? -1 : 1))
    .map(({ name, value }) => ({ name, value: value.slice(6) }));
}

export function readLogs(reply: readonly Reply[]): LogLine[] {
  return reply.map((line) => {
    const whole = text(line);
    const space = whole.indexOf(" ");
    return { at: Number(whole.slice(0, space)), text: whole.slice(space + 1) };
  });
}

const OUTCOMES: readonly AttemptRecord["outcome"][] = [
  "succeeded",
  "failed",
  "crashed",
  "cancelled",
];
const WORKER_AT = 29;

export function readAttempt(reply: Reply): AttemptRecord {
  const packed = bytes(reply);
  const workerLength = packed.readUInt16LE(WORKER_AT);
  const failureAt = WORKER_AT + 2 + workerLength;
  const failureText = packed.toString("utf8", failureAt + 4);
  const failure = failureText === "" ? null : (JSON.parse(failureText) as Partial<Failure>);
  return {
    attempt: packed.readUInt32LE(1),
    fence: packed.readDoubleLE(5),
    worker: packed.toString("utf8", WORKER_AT + 2, failureAt),
    startedAt: packed.readDoubleLE(13),
    endedAt: packed.readDoubleLE(21),
    outcome: OUTCOMES[packed.readUInt8(0) - 1] ?? "failed",
    category: failure?.category ?? null,
    message: failure?.message ?? null,
    stack: failure?.stack ?? null,
  };
}

/** For an attempt from elsewhere. */
export function packAttempt(record: AttemptRecord): Buffer {
  const worker = Buffer.from(record.worker);
  const { category, message, stack } = record;
  const isPlain = category === null && message === null && stack === null;
  const failure = Buffer.from(isPlain ? "" : JSON.stringify({ category, message, stack }));
  const packed = Buffer.alloc(WORKER_AT + 2 + worker.length + 4 + failure.length);
  packed.writeUInt8(OUTCOMES.indexOf(record.outcome) + 1, 0);
  packed.writeUInt32LE(record.attempt, 1);
  packed.writeDoubleLE(record.fence, 5);
  packed.writeDoubleLE(record.startedAt, 13);
  packed.writeDoubleLE(record.endedAt, 21);
  packed.writeUInt16LE(worker.length, WORKER_AT);
  worker.copy(packed, WORKER_AT + 2);
  packed.writeUInt32LE(failure.length, WORKER_AT + 2 + worker.length);
  failure.copy(packed, WORKER_AT + 6 + worker.length);
  return packed;
}
