import type { DedupeKey, JobStatus, NewJob } from "../../core/job.ts";
import type { InsertOptions, InsertResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { expiryOf, keyHolder, lifeOf, takeKey, UNTIL_FINISHED } from "./keys.ts";
import type { Queue } from "./queue-book.ts";
import { HAS_EXTRAS, HAS_KEY, sizeFlag, standInLine } from "./placement.ts";
import { STATUSES } from "./status-codes.ts";
import { dropTombstone, isRemembered } from "./tombstones.ts";
import type { Transaction } from "./transaction.ts";

/** What a new job and an adopted one have in common: what never changes. */
export interface JobBody {
  readonly id: string;
  readonly group: string;
  readonly type: string;
  readonly priority: number;
  readonly dedupe: DedupeKey | null;
  readonly tags: readonly string[];
  readonly meta: string | null;
  readonly trace: string | null;
  readonly payload: string;
}

const ADD_JOB = `
  INSERT INTO holdfast_job (seq, id, q, grp, type, prio, created_at, key, key_life, key_hash, tags,
    meta, trace, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
/** The common case, with fewer values to hand over: no key, no tags, no metadata. */
const ADD_PLAIN_JOB = `
  INSERT INTO holdfast_job (seq, id, q, grp, type, prio, created_at, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const STATUS_OF = `
  SELECT coalesce(
    (SELECT d.status FROM holdfast_done d WHERE d.seq = j.seq),
    (SELECT 4 FROM holdfast_leased p WHERE p.seq = j.seq),
    0)
  FROM holdfast_job j WHERE j.id = ?`;

export function insert(
  tx: Transaction,
  jobs: readonly NewJob[],
  { evenIfFull = false }: InsertOptions = {},
): InsertResult[] {
  return jobs.map((job) => insertOne(tx, job, evenIfFull));
}

/**
 * The order of the questions is part of the promise: id, then key, then room. A job that is due waits in
 * `tx.fresh`, and the caller sees to it that nobody looks for it in its line before it is there.
 */
export function insertOne(tx: Transaction, job: NewJob, evenIfFull: boolean): InsertResult {
  const known = tx.queues.find(job.queue);
  // In a known queue, without a key or a bound, the unique index on ids answers with the insert itself.
  const isBounded = !evenIfFull && known !== null && known.maxWaiting !== null;
  if (known === null || job.dedupe !== null || isBounded || tx.mayBeGone(job.id)) {
    const refusal = refusalOf(tx, known, job) ?? (isBounded ? fullness(known) : null);
    if (refusal !== null) return refusal;
  }
  const queue = known ?? tx.queues.findOrAdd(job.queue);
  const { now } = tx;
  const seq = addBody(tx, queue, job, { createdAt: now, isFinished: false });
  if (seq === null) return duplicateOf(tx, job.id);
  const runAt = job.runAt === null ? instantAfter(now, job.delayMs) : Math.ceil(job.runAt);
  const flags = flagsOf(job);
  const { maxAttempts, priority: prio, id, type, payload } = job;
  if (runAt !== now) {
    const fresh = { attempts: 0, crashes: 0, fence: 0, settledFence: 0 };
    standInLine(tx, queue, job.group, { seq, prio, maxAttempts, runAt, flags, ...fresh });
  } else {
    const line = tx.lines.findOrAdd(queue, job.group);
    tx.fresh.add(line, { seq, prio, maxAttempts, flags, id, type, createdAt: now, payload });
    queue.add("ready", 1);
    tx.lines.gotReady(line);
    tx.filledQueues.add(queue.name);
  }
  return { outcome: "added", id };
}

/** Why a job of this id and key cannot be added; null if it can. */
export function refusalOf(
  tx: Transaction,
  queue: Queue | null,
  { id, dedupe }: Pick<NewJob, "id" | "dedupe">,
): InsertResult | null {
  const status = statusOf(tx, id);
  if (status !== "pruned") return { outcome: "duplicate", id, status };
  if (isRemembered(tx, id)) return { outcome: "duplicate", id, status: "pruned" };
  if (dedupe === null || queue === null) return null;
  const holder = keyHolder(tx, queue, dedupe.key);
  if (holder === null) return null;
  return {
    outcome: holder.hash === dedupe.hash ? "duplicate" : "conflict",
    id: holder.id,
    status: statusOf(tx, holder.id),
  };
}

/** Stores the body and takes its key. Null: the id is taken. Where it stands is for the caller to say. */
export function addBody(
  tx: Transaction,
  queue: Queue,
  job: JobBody,
  { createdAt, isFinished }: { readonly createdAt: number; readonly isFinished: boolean },
): number | null {
  const { id, group, type, priority, dedupe, tags, meta, trace, payload } = job;
  const seq = tx.known.nextSeq();
  let changes: number | bigint;
  if (dedupe === null && tags.length === 0 && meta === null && trace === null) {
    const add = tx.db.write(ADD_PLAIN_JOB);
    changes = add.run(seq, id, queue.q, group, type, priority, createdAt, payload).changes;
  } else {
    const life = dedupe === null ? null : lifeOf(dedupe.lifetime);
    // Elsewhere the key's own row keeps the hash; this one is gone when the job is revived.
    const hash = life === UNTIL_FINISHED ? (dedupe?.hash ?? null) : null;
    const tagText = tags.length === 0 ? null : JSON.stringify(tags);
    changes = tx.db.run(
      ADD_JOB,
      ...[seq, id, queue.q, group, type, priority, createdAt],
      ...[dedupe?.key ?? null, life, hash, tagText, meta, trace, payload],
    );
  }
  if (Number(changes) === 0) {
    tx.known.returnSeq();
    return null;
  }
  if (tx.mayBeGone(id)) dropTombstone(tx, id);
  if (dedupe !== null) claimKey(tx, queue, { id, dedupe, createdAt, isFinished });
  return seq;
}

function claimKey(
  tx: Transaction,
  queue: Queue,
  job: {
    readonly id: string;
    readonly dedupe: DedupeKey;
    readonly createdAt: number;
    readonly isFinished: boolean;
  },
): void {
  const { key, hash, lifetime } = job.dedupe;
  if (lifetime === "until-finished" && job.isFinished) return;
  const expiresAt = expiryOf(lifeOf(lifetime), job.createdAt);
  if (expiresAt !== null && expiresAt <= tx.now) return;
  takeKey(tx, queue, { key, hash, id: job.id, expiresAt });
}

/** What its moving row must know of the body. */
export function flagsOf({ dedupe, tags, meta, trace, payload }: JobBody): number {
  const hasExtras = tags.length > 0 || meta !== null || trace !== null;
  return (dedupe === null ? 0 : HAS_KEY) | (hasExtras ? HAS_EXTRAS : 0) | sizeFlag(payload);
}

function fullness(queue: Queue): InsertResult | null {
  const { maxWaiting, counts } = queue;
  if (maxWaiting === null || counts.ready + counts.delayed < maxWaiting) return null;
  return { outcome: "full", maxWaiting };
}

function duplicateOf(tx: Transaction, id: string): InsertResult {
  return { outcome: "duplicate", id, status: statusOf(tx, id) };
}

function statusOf(tx: Transaction, id: string): JobStatus | "pruned" {
  const code = tx.db.value(STATUS_OF, id);
  return code === undefined ? "pruned" : (STATUSES[Number(code)] ?? "queued");
}
