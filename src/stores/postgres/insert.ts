import type { DedupeKey, JobStatus, NewJob } from "../../core/job.ts";
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import type { InsertResult } from "../../core/store.ts";
import { msOf, wholeMs, type Clock } from "./clock.ts";
import type { Value } from "./database.ts";
import { lifeOf } from "./keys.ts";
import type { Asker } from "./queue-book.ts";
import { list, number } from "./row-values.ts";
import { STATUSES, STATUS_CODES } from "./standing.ts";

/** Its arguments in order; `insert-function.ts` says what they mean. */
const INSERT = `
  SELECT * FROM holdfast.insert_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`;

const [CANDIDATE, ADDED, DUPLICATE, CONFLICT, FULL] = [0, 1, 2, 3, 4];

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
  /** Milliseconds. */
  readonly now: number;
}

export function insert(db: Asker, jobs: readonly NewJob[], how: InsertHow): Promise<Inserted> {
  return insertJobs(db, jobs, null, how);
}

export function insertAdopted(
  db: Asker,
  jobs: readonly Adoptable[],
  how: InsertHow,
): Promise<Inserted> {
  return insertJobs(db, jobs, jobs, how);
}

async function insertJobs(
  db: Asker,
  all: readonly Insertable[],
  adopted: readonly Adoptable[] | null,
  how: InsertHow,
): Promise<Inserted> {
  // The second of an id is a duplicate of the first, whatever became of that.
  const firstOf = new Map<string, number>();
  for (const [index, { id }] of all.entries()) if (!firstOf.has(id)) firstOf.set(id, index);
  const isFirst = (job: Insertable, index: number): boolean => firstOf.get(job.id) === index;
  const jobs = all.filter(isFirst);
  const [row] = await db.rows(INSERT, [
    ...[how.clock.seen, how.isLate, !how.evenIfFull],
    jobs.reduce((first, { id }) => (id < first ? id : first), jobs[0]?.id ?? ""),
    ...bodyColumns(jobs, how.queues),
    ...(adopted === null ? [null, null, null, null, null] : pastColumns(adopted.filter(isFirst))),
  ]);
  if (row === undefined) throw new Error("insert_jobs answered nothing");
  const micros = number(row, 0);
  how.clock.saw(micros);
  const now = msOf(micros);
  const [codes, others, statuses, bounds] = [1, 2, 3, 4].map((column) => list(row, column));
  const numbers = list(row, 5);
  const woken = new Set<number>();
  const answers = jobs.map((job, index) => {
    const code = Number(codes?.[index] ?? ADDED);
    const isAdded = code === ADDED;
    if (isAdded && isSoon(job, now)) woken.add(numberOf(how.queues, job));
    return {
      seq: isAdded ? Number(numbers?.[index]) : null,
      result: resultOf(code, {
        id: isAdded ? job.id : (others?.[index] ?? job.id),
        status: statusOf(statuses?.[index]),
        maxWaiting: Number(bounds?.[index] ?? 0),
      }),
    };
  });
  const byId = new Map(jobs.map((job, index) => [job.id, answers[index]]));
  const seqs: (number | null)[] = [];
  const results = all.map((job, index): InsertResult => {
    const answer = byId.get(job.id);
    if (answer === undefined) throw new Error("a job got no answer");
    const isRepeated = !isFirst(job, index) && answer.seq !== null;
    seqs.push(isRepeated ? null : answer.seq);
    return isRepeated ? { outcome: "duplicate", id: job.id, status: "queued" } : answer.result;
  });
  return { results, seqs, woken, now };
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
    case CANDIDATE:
    default:
      throw new Error(`insert_jobs answered the code ${code}`);
  }
}

function statusOf(code: string | null | undefined): JobStatus | "pruned" {
  return code === null || code === undefined ? "pruned" : (STATUSES[Number(code)] ?? "queued");
}
