/**
 * Where a page is looked for. What an index decides is a source that answers a full page in one go:
 * dead and cancelled jobs, whose words stand in their rows; running ones, which are few; a line; what was
 * tried before; the finished jobs of a queue, as long as they are not many. Everything else walks numbers,
 * all of them or the blocks of a queue (`queue-blocks.ts`), and looks at so many of them only.
 */
import { JOB_STATUSES, type JobStatus } from "../../core/job.ts";
import { STATUSES } from "./placement.ts";
import {
  ANY_JOB,
  isOneOf,
  RUNNING,
  UNHAPPY,
  type Query,
  type Wanted,
  type Words,
} from "./find-conditions.ts";
import type { Asker } from "./queue-book.ts";
import { number } from "./row-values.ts";

/** Jobs looked at in one go, each in several tables: some ten milliseconds. */
export const LOOK_AT_MOST = 5_000;
/** Priorities of one line that are looked at. */
const MOST_PRIORITIES = 64;

/** Some rows `s` that have a `seq`. */
export interface Source {
  readonly table: string;
  readonly range: readonly string[];
  /** What more is asked of each. */
  readonly rest: readonly string[];
  readonly words: Words;
  /** The words of the filter that all its rows have. */
  readonly decided: readonly (keyof Words)[];
  /** All of its rows may be looked at for one page. */
  readonly isFull: boolean;
}

/** A source for one statement, whose values it takes. */
type SourceOf = (query: Query) => Source;
/** Or all jobs, or those of one queue, by their numbers. */
export type Sources = readonly SourceOf[] | "all jobs" | "blocks";

const WAITING = `
  SELECT coalesce(sum(ready + delayed), 0) FROM (
    SELECT ready, delayed FROM holdfast.tally
    UNION ALL SELECT ready, delayed FROM holdfast.tally_late) t`;
const FEW_DONE = `
  SELECT count(*) FROM (SELECT FROM holdfast.done d WHERE d.q = $1 AND d.status = 1
    AND d.finished_at >= $2 AND d.finished_at < $3 LIMIT ${LOOK_AT_MOST + 1}) x`;

const EVERY_QUEUED = "(SELECT seq FROM holdfast.ready UNION ALL SELECT seq FROM holdfast.delayed)";

const PLAIN: Pick<Source, "range" | "rest" | "words" | "decided"> = {
  ...{ range: [], rest: [], words: ANY_JOB, decided: [] },
};

export async function sourcesOf(
  db: Asker,
  statuses: readonly JobStatus[],
  wanted: Wanted,
): Promise<Sources> {
  const { q } = wanted;
  const numbers = q === null ? "all jobs" : "blocks";
  if (statuses.length === JOB_STATUSES.length) return numbers;
  const sources: SourceOf[] = [];
  for (const status of statuses) {
    if (status === "succeeded") {
      if (q === null || !(await hasFewDone(db, q, wanted))) return numbers;
      sources.push((query) => ({
        ...{ ...PLAIN, table: "holdfast.done", decided: ["q"], isFull: true },
        range: [`s.q = ${query.value(q)}`, "s.status = 1"],
        words: { ...ANY_JOB, finishedAt: "s.finished_at" },
      }));
    } else if (status === "queued") {
      const queued = queuedSources(wanted);
      if (queued !== null) sources.push(...queued);
      else if (await hasFewWaiting(db))
        sources.push(() => ({ ...PLAIN, table: EVERY_QUEUED, isFull: true }));
      else return numbers;
    } else if (status === "processing") {
      sources.push(() => ({ ...PLAIN, table: "holdfast.leased", words: RUNNING, isFull: true }));
    } else {
      const range = [`s.status = ${STATUSES.indexOf(status)}`, "s.status > 1"];
      sources.push(() => ({
        ...PLAIN,
        table: "holdfast.done",
        range,
        words: UNHAPPY,
        isFull: true,
      }));
    }
  }
  return sources;
}

/** What was tried before, or a line. Null: no index leads to them. */
function queuedSources({ filter: { group, retrying, delayed }, q }: Wanted): SourceOf[] | null {
  if (q === null) return null;
  const places = delayed === true ? ["delayed"] : ["ready", "delayed"];
  if (retrying === true) {
    return places.map((place) => (query) => ({
      ...{ ...PLAIN, table: `holdfast.${place}`, decided: ["q", "attempts"], isFull: false },
      range: [`s.q = ${query.value(q)}`, "s.attempts > 0"],
    }));
  }
  if (group === undefined) return null;
  return places.map((place) => (query) => {
    const line = `s.q = ${query.value(q)} AND s.grp = ${query.value(group)}`;
    const isReady = place === "ready";
    return {
      ...{ ...PLAIN, decided: ["q", "grp"], isFull: false },
      table: isReady ? byPriority(line) : "holdfast.delayed",
      range: isReady ? [] : [line],
    };
  });
}

/**
 * A line is sorted by priority first. So its priorities are found by jumps, and of each the rows come in
 * the order of the page: its marks are put in by the walk.
 */
function byPriority(line: string): string {
  const first = (after: string): string => `SELECT s.prio FROM holdfast.ready s
    WHERE ${line} ${after} ORDER BY s.q, s.grp, s.prio LIMIT 1`;
  return `(WITH RECURSIVE prios AS (
      (SELECT f.prio, 1 AS step FROM (${first("")}) f)
      UNION ALL
      SELECT n.prio, p.step + 1 FROM prios p
      CROSS JOIN LATERAL (${first("AND s.prio > p.prio")}) n WHERE p.step < ${MOST_PRIORITIES})
    SELECT x.seq FROM prios p CROSS JOIN LATERAL (
      SELECT s.seq FROM holdfast.ready s WHERE ${line} AND s.prio = p.prio /*past*/
      ORDER BY s.q /*order*/, s.grp /*order*/, s.prio /*order*/, s.seq /*order*/ LIMIT /*size*/) x)`;
}

async function hasFewWaiting(db: Asker): Promise<boolean> {
  const [row] = await db.rows(WAITING);
  return row !== undefined && number(row, 0) <= LOOK_AT_MOST;
}

async function hasFewDone(db: Asker, q: number, { filter }: Wanted): Promise<boolean> {
  const from = Math.ceil(filter.finishedFrom ?? 0);
  const to = Math.ceil(filter.finishedTo ?? Number.MAX_SAFE_INTEGER);
  const [row] = await db.rows(FEW_DONE, [q, from, to]);
  return row !== undefined && number(row, 0) <= LOOK_AT_MOST;
}

/** Of a walk over numbers. */
export function isOf(statuses: readonly JobStatus[]): string[] {
  return statuses.length === JOB_STATUSES.length ? [] : [isOneOf(statuses)];
}
