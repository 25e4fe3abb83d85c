/** What must be the same of a job in two stores, as a number: the sum of many does not depend on their order. */
import { createHash } from "node:crypto";
import type { AdoptedJob } from "../core/job.ts";

const MODULUS = 2n ** 128n;

export function jobDigest(job: AdoptedJob): bigint {
  const { id, queue, group, type, status, priority, payload, result, attempts, maxAttempts } = job;
  const { reason, checkpoint, steps, tags, meta, trace, createdAt, runAt, finishedAt } = job;
  const { crashes, error, logs, history } = job;
  const key = job.dedupe?.key ?? null;
  const words = JSON.stringify([
    ...[id, queue, group, type, status, priority, payload, result, attempts, maxAttempts, crashes],
    ...[error?.message, error?.category, reason, checkpoint, steps, tags, meta, trace, key],
    ...[createdAt, runAt, finishedAt, logs.length, history.length],
  ]);
  const hash = createHash("sha256").update(words).digest("hex").slice(0, 32);
  return BigInt(`0x${hash}`);
}

export function addDigests(one: bigint, other: bigint): bigint {
  return (one + other) % MODULUS;
}

export function digestText(digest: bigint): string {
  return digest.toString(16).padStart(32, "0");
}
