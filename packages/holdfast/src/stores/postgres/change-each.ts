/**
 * Finds the jobs that an operator means, by their ids or by a filter in steps, and hands them, locked
 * in their places, to a rule. A job that somebody else has locked is tried again a little later, in a
 * transaction of its own, so that nobody waits for anybody while holding locks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Change, Changes, JobFilter, Target } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./database.ts";
import { pageOfSeqs, stillMatching } from "./find.ts";
import { lockJobs, type LocatedJob, type LockHow } from "./located-job.ts";
import type { QueueBook } from "./queue-book.ts";
import { number, text } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

export type Answer = Omit<Change, "id">;
/** Changes those that allow it, and answers for each by its number. */
export type Rule = (tx: Transaction, jobs: readonly LocatedJob[]) => Promise<Map<number, Answer>>;

export interface Operated extends Changes {
  readonly woken: ReadonlySet<number>;
  readonly finished: readonly string[];
}

export interface OperateOptions {
  readonly db: Database;
  readonly queues: QueueBook;
  readonly clock: Clock;
}

const SEQS_OF = "SELECT id, seq FROM holdfast.job WHERE id = ANY ($1)";

/** How often a job that somebody has locked is looked for again, and how long after. */
const MOST_TRIES = 40;
const TRY_AGAIN_MS = 25;

const MISSING: Answer = { result: "missing", status: null };
/** Nobody could have it for a second: a transaction that is open for long is settling it. */
const TAKEN: Answer = { result: "refused", status: "processing" };

export async function changeEach(
  options: OperateOptions & LockHow,
  target: Target,
  rule: Rule,
): Promise<Operated> {
  const owed = { woken: new Set<number>(), finished: [] as string[] };
  const step = (wanted: readonly number[], filter: FrozenFilter | null) =>
    changeSome(options, { wanted, filter, rule, owed });
  if ("ids" in target) {
    const changes = await changeByIds(
      options,
      target.ids.map(({ id }) => id),
      step,
    );
    return { changes, nextCursor: null, ...owed };
  }
  // Oldest first, and only what was so when the operator looked: otherwise reviving dead jobs that
  // die again at once would never come to an end.
  const { filter, frozenAt, limit, cursor = null } = target;
  const page = { limit, cursor, order: "oldest" as const };
  const found = await pageOfSeqs(options, filter, { page, frozenAt });
  const changes: Change[] = [];
  let open = found.seqs;
  for (let tries = 1; open.length > 0 && tries <= MOST_TRIES; tries++) {
    if (tries > 1) await sleep(TRY_AGAIN_MS);
    const { answered, left } = await step(open, { filter, frozenAt });
    changes.push(...answered.map(({ id, answer }) => ({ id, ...answer })));
    open = await stillMatching(options, filter, { seqs: left, frozenAt });
  }
  return { changes, nextCursor: found.nextCursor, ...owed };
}

interface FrozenFilter {
  readonly filter: JobFilter;
  readonly frozenAt: number;
}

interface Step {
  readonly answered: readonly {
    readonly seq: number;
    readonly id: string;
    readonly answer: Answer;
  }[];
  /** Those that could not be had. */
  readonly left: readonly number[];
}

/** An id that is given twice is done twice, one after the other. */
async function changeByIds(
  { db }: OperateOptions,
  ids: readonly string[],
  step: (seqs: readonly number[], filter: null) => Promise<Step>,
): Promise<Change[]> {
  const changes: (Change | null)[] = ids.map(() => null);
  for (let tries = 1; ; tries++) {
    const open = new Map<string, number>();
    for (const [index, id] of ids.entries()) {
      if (changes[index] === null && !open.has(id)) open.set(id, index);
    }
    if (open.size === 0) break;
    const rows = await db.rows(SEQS_OF, [[...open.keys()].filter(isUuid)]);
    const known = new Map(rows.map((row) => [text(row, 0), number(row, 1)]));
    const { answered } = await step([...known.values()], null);
    const bySeq = new Map(answered.map(({ seq, answer }) => [seq, answer]));
    let isStuck = true;
    for (const [id, index] of open) {
      const seq = known.get(id);
      const answer = seq === undefined ? MISSING : bySeq.get(seq);
      const isLastTry = tries >= MOST_TRIES;
      if (answer === undefined && !isLastTry) continue;
      changes[index] = { id, ...(answer ?? TAKEN) };
      isStuck = false;
    }
    if (isStuck) await sleep(TRY_AGAIN_MS);
    else tries = 0;
  }
  return changes.filter((change) => change !== null);
}

async function changeSome(
  { db, queues, clock, isForRunning }: OperateOptions & LockHow,
  how: {
    readonly wanted: readonly number[];
    readonly filter: FrozenFilter | null;
    readonly rule: Rule;
    readonly owed: { readonly woken: Set<number>; readonly finished: string[] };
  },
): Promise<Step> {
  const { wanted, filter, rule, owed } = how;
  if (wanted.length === 0) return { answered: [], left: [] };
  const done = await db.transaction(async (tx) => {
    const locked = await lockJobs(tx, wanted, { isForRunning });
    // What has changed since the look may not match any more.
    const had = locked.map(({ seq }) => seq);
    const matching =
      filter === null
        ? had
        : await stillMatching({ db: tx, queues, clock }, filter.filter, { ...filter, seqs: had });
    const jobs = locked.filter(({ seq }) => matching.includes(seq)).sort((a, b) => a.seq - b.seq);
    return { locked, jobs, byNumber: await rule(tx, jobs), tx };
  });
  for (const q of done.tx.woken) owed.woken.add(q);
  owed.finished.push(...done.tx.finished);
  const had = new Set(done.locked.map(({ seq }) => seq));
  return {
    answered: done.jobs.flatMap(({ seq, id }) => {
      const answer = done.byNumber.get(seq);
      return answer === undefined ? [] : [{ seq, id, answer }];
    }),
    left: wanted.filter((seq) => !had.has(seq)),
  };
}
