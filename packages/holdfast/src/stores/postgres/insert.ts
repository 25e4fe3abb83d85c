import { StoreUnavailableError } from "../../core/errors.ts";
import type { DedupeKey, JobStatus, NewJob } from "../../core/job.ts";
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import type { InsertResult } from "../../core/store.ts";
import { sizeFlags } from "./byte-bound.ts";
import { msOf, wholeMs, type Clock } from "./clock.ts";
import type { Database, Value } from "./database.ts";
import { lifeOf } from "./keys.ts";
import { isLockTimeout } from "./postgres-error.ts";
import type { Asker } from "./queue-book.ts";
import { list, number } from "./row-values.ts";
import { runsOf } from "./runs-of.ts";
import { STATUSES, STATUS_CODES } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

/** Its arguments in order; `insert-function.ts` says what they mean. */
const INSERT = `
  SELECT * FROM holdfast.insert_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)`;

const [CANDIDATE, ADDED, DUPLICATE, CONFLICT, FULL, BUSY] = [0, 1, 2, 3, 4, 5];

/**
 * How long a key is waited for that another transaction is just taking or freeing. Nearly always that
 * one is an insert like ours, and commits in a moment. Who asks for one job waits longer: nobody else
 * waits with it.
 */
const WAIT_ALONE_MS = 2_000;
const WAIT_TOGETHER_MS = 250;
/** When it has been waited for already; twice as long each time. */
const LOOK_MS = 10;
/** A key may become busy between two looks. */
const MOST_LOOKS = 6;

/** What a new job and an adopted one have in common. */
export interface Insertable {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly priority: number;
  readonly payload: string;
  readonly maxAttempts: number;
  readonly delayMs?: number;
  readonly runAt: number | null;
  readonly dedupe: DedupeKey | null;
  readonly tags: readonly string[];
  readonly meta: string | null;
  readonly trace: string | null;
}

/** The past of an adopted job. */
export interface Adoptable extends Insertable {
  readonly createdAt: number;
  readonly status: Exclude<JobStatus, "processing">;
  readonly attempts: number;
  readonly crashes: number;
  readonly fence: number;
}

export interface InsertHow {
  readonly clock: Clock;
  readonly queues: ReadonlyMap<string, number>;
  readonly evenIfFull: boolean;
  /** Inside a caller's own transaction. */
  readonly isLate: boolean;
}

export interface Inserted {
  readonly results: InsertResult[];
  /** The numbers of those that were added; null for the others. */
  readonly seqs: readonly (number | null)[];
  /** Queues that have got a job that is ready, now or soon. */
  readonly woken: ReadonlySet<number>;
  /** How many jobs of those are. */
  readonly ready: number;
}

/**
 * One statement that is a transaction of its own. No id may be in it twice. If a key is busy for too
 * long, it is asked again which ones are, and only those are refused.
 */
export async function insertAlone(
  db: Database,
  jobs: readonly NewJob[],
  how: InsertHow,
): Promise<Inserted> {
  const waitMs = jobs.length === 1 ? WAIT_ALONE_MS : WAIT_TOGETHER_MS;
  for (let looks = 0; ; looks++) {
    const lookMs = LOOK_MS * 2 ** looks;
    const wait = looks === 0 ? { waitMs, isWary: false } : { waitMs: lookMs, isWary: true };
    try {
      return await insertJobs(db, jobs, null, { ...how, ...wait });
    } catch (error) {
      const isBusy = error instanceof StoreUnavailableError && isLockTimeout(error.cause);
      if (!isBusy || looks === MOST_LOOKS) throw error;
    }
  }
}

export function hasRepeats(jobs: readonly NewJob[]): boolean {
  return new Set(jobs.map(({ id }) => id)).size < jobs.length;
}

/**
 * As many statements as it takes, so all or none only inside the transaction. In a caller's own one
 * nothing may fail for the sake of a busy key: it would have to be rolled back.
 */
export async function insert(
  tx: Transaction,
  jobs: readonly NewJob[],
  how: InsertHow,
): Promise<InsertResult[]> {
  const all: InsertResult[] = [];
  for (const run of runsOf(jobs, ({ id }) => id)) {
    const wait = { waitMs: WAIT_ALONE_MS, isWary: tx.isLate };
    const { results, woken } = await insertJobs(tx, run, null, { ...how, ...wait });
    for (const q of woken) tx.woken.add(q);
    all.push(...results);
  }
  return all;
}

/** One statement. No id may be in it twice. */
export function insertAdopted(
  db: Asker,
  jobs: readonly Adoptable[],
  how: InsertHow,
): Promise<Inserted> {
  return insertJobs(db, jobs, jobs, { ...how, waitMs: WAIT_ALONE_MS, isWary: false });
}

async function insertJobs(
  db: Asker,
  jobs: readonly Insertable[],
  adopted: readonly Adoptable[] | null,
  how: InsertHow & { readonly waitMs: number; readonly isWary: boolean },
): Promise<Inserted> {
  const [row] = await db.rows(INSERT, [
    ...[how.clock.seen, how.isLate, !how.evenIfFull, how.waitMs, how.isWary],
    jobs.reduce((first, { id }) => (id < first ? id : first), jobs[0]?.id ?? ""),
    ...bodyColumns(jobs, how.queues),
    ...(adopted === null ? [null, null, null, null, null] : pastColumns(adopted)),
  ]);
  if (row === undefined) throw new Error("insert_jobs answered nothing");
  const micros = number(row, 0);
  how.clock.saw(micros);
  const now = msOf(micros);
  const [codes, others, statuses, bounds] = [1, 2, 3, 4].map((column) => list(row, column));
  const numbers = list(row, 5);
  const woken = new Set<number>();
  let ready = 0;
  const seqs = jobs.map((_, index) =>
    codeAt(codes, index) === ADDED ? Number(numbers?.[index]) : null,
  );
  const results = jobs.map((job, index) => {
    const isAdded = seqs[index] !== null;
    if (isAdded && isSoon(job, now)) {
      woken.add(numberOf(how.queues, job));
      ready++;
    }
    return resultOf(codeAt(codes, index), {
      id: isAdded ? job.id : (others?.[index] ?? job.id),
      status: statusOf(statuses?.[index]),
      maxWaiting: Number(bounds?.[index] ?? 0),
    });
  });
  return { results, seqs, woken, ready };
}

/** No codes at all: all were added. */
function codeAt(codes: readonly (string | null)[] | null | undefined, index: number): number {
  return Number(codes?.[index] ?? ADDED);
}

function bodyColumns(jobs: readonly Insertable[], queues: ReadonlyMap<string, number>): Value[] {
  const keyed = jobs.some(({ dedupe }) => dedupe !== null);
  const column = <T extends string | number | null>(of: (job: Insertable) => T): T[] =>
    jobs.map(of);
  /** A column in which nobody has anything is not sent. */
  const sparse = <T extends string | number>(of: (job: Insertable) => T | null): Value =>
    jobs.some((job) => of(job) !== null) ? jobs.map(of) : null;
  return [
    column(({ id }) => id),
    column((job) => numberOf(queues, job)),
    column(({ group }) => group),
    column(({ type }) => type),
    column(({ priority }) => priority),
    column(({ payload }) => payload),
    column(({ maxAttempts }) => maxAttempts),
    sparse(({ delayMs = 0 }) => (delayMs > 0 ? wholeMs(delayMs) : null)),
    sparse(({ runAt }) => (runAt === null ? null : Math.ceil(runAt))),
    keyed ? column(({ dedupe }) => dedupe?.key ?? null) : null,
    keyed ? column(({ dedupe }) => dedupe?.hash ?? null) : null,
    keyed ? column(({ dedupe }) => (dedupe === null ? null : lifeOf(dedupe.lifetime))) : null,
    sparse(({ tags }) => (tags.length === 0 ? null : JSON.stringify(tags))),
    sparse(({ meta }) => meta),
    sparse(({ trace }) => trace),
    sparse(({ payload }) => sizeFlags(payload) || null),
  ];
}

function pastColumns(jobs: readonly Adoptable[]): Value[] {
  return [
    jobs.map(({ createdAt }) => Math.floor(createdAt)),
    jobs.map(({ status }) => (status === "queued" ? 0 : STATUS_CODES[status])),
    jobs.map(({ attempts }) => attempts),
    jobs.map(({ crashes }) => crashes),
    jobs.map(({ fence }) => fence),
  ];
}

function numberOf(queues: ReadonlyMap<string, number>, { queue }: Insertable): number {
  const q = queues.get(queue);
  if (q === undefined) throw new Error("the queue of a job has no number");
  return q;
}

function isSoon({ runAt, delayMs = 0 }: Insertable, now: number): boolean {
  return runAt === null ? delayMs <= WAKE_AHEAD_MS : runAt <= now + WAKE_AHEAD_MS;
}

function resultOf(
  code: number,
  of: {
    readonly id: string;
    readonly status: JobStatus | "pruned";
    readonly maxWaiting: number;
  },
): InsertResult {
  const { id, status, maxWaiting } = of;
  switch (code) {
    case ADDED:
      return { outcome: "added", id };
    case DUPLICATE:
      return { outcome: "duplicate", id, status };
    case CONFLICT:
      return { outcome: "conflict", id, status };
    case FULL:
      return { outcome: "full", maxWaiting };
    case BUSY:
      return { outcome: "busy" };
    case CANDIDATE:
    default:
      throw new Error(`insert_jobs answered the code ${code}`);
  }
}

function statusOf(code: string | null | undefined): JobStatus | "pruned" {
  return code === null || code === undefined ? "pruned" : (STATUSES[Number(code)] ?? "queued");
}
