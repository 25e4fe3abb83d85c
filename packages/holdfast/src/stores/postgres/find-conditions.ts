/** What a filter asks of a job, as conditions of a statement. */
import { JOB_STATUSES, type JobStatus } from "../../core/job.ts";
import type { JobFilter } from "../../core/store.ts";
import { clockMs, msOf, type Clock } from "./clock.ts";
import type { Value } from "./database.ts";
import { STATUSES } from "./placement.ts";

export interface Wanted {
  readonly filter: JobFilter;
  /** The number of the filter's queue. */
  readonly q: number | null;
  readonly clock: Clock;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt: number | undefined;
}

/** A statement in the making: the values it needs so far. */
export class Query {
  readonly values: Value[] = [];

  /** Takes a value and answers how the statement names it. */
  value(value: Value): string {
    return `$${this.values.push(value)}`;
  }
}

/** Where each word of a job stands. */
export interface Words {
  readonly q: string;
  readonly grp: string;
  readonly type: string;
  readonly tags: string;
  readonly category: string;
  readonly fingerprint: string;
  readonly createdAt: string;
  readonly finishedAt: string;
  readonly worker: string;
  readonly attempts: string;
}

/** Of any job: its body, its place and its past. */
export const ANY_JOB: Words = {
  ...{ q: "j.q", grp: "j.grp", type: "j.type", tags: "j.tags" },
  ...{ category: "t.category", fingerprint: "t.fingerprint" },
  ...{ createdAt: "j.created_at", finishedAt: "d.finished_at" },
  worker: "coalesce(p.worker, d.worker, t.worker)",
  attempts: "coalesce(a.attempts, r.attempts)",
};
/** Of a dead or cancelled job: all in its row `s` of done, but for one. */
export const UNHAPPY: Words = {
  ...{ q: "s.q", grp: "s.grp", type: "s.type", tags: "s.tags" },
  ...{ category: "s.category", fingerprint: "s.fingerprint" },
  ...{ createdAt: "s.created_at", finishedAt: "s.finished_at" },
  worker: "coalesce(s.worker, t.worker)",
  attempts: "s.attempts",
};
/** Of a running job, with its row `s` of leased. */
export const RUNNING: Words = {
  ...ANY_JOB,
  ...{ q: "s.q", grp: "s.grp", worker: "s.worker", finishedAt: "NULL::bigint" },
};

/**
 * What conditions may ask about a row, by the letter they use. Each is one step through an index: a plain
 * join may be planned as a scan of the whole table, which is then as large as it likes.
 */
const JOINS = [
  ["j", "JOIN", "holdfast.job x WHERE x.seq = $.seq"],
  ["d", "LEFT JOIN", "holdfast.done x WHERE x.seq = $.seq"],
  ["p", "LEFT JOIN", "holdfast.leased x WHERE x.seq = $.seq"],
  ["a", "LEFT JOIN", "holdfast.delayed x WHERE x.seq = $.seq"],
  ["t", "LEFT JOIN", "holdfast.job_details x WHERE x.seq = $.seq"],
  [
    "r",
    "LEFT JOIN",
    `holdfast.ready x WHERE x.q = j.q AND x.grp = j.grp AND x.prio = j.prio AND x.seq = $.seq`,
  ],
] as const;

/** `row`: the alias of the row that has the number. */
export function joinsFor(row: string, conditions: readonly string[]): string {
  const text = conditions.join(" ");
  const asks = (letter: string): boolean => new RegExp(`\\b${letter}\\.`).test(text);
  return JOINS.filter(([letter]) => asks(letter) || (letter === "j" && asks("r")))
    .map(
      ([letter, join, rows]) =>
        `${join} LATERAL (SELECT * FROM ${rows.replace("$", row)} OFFSET 0) ${letter} ON true`,
    )
    .join("\n");
}

export function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}

export function statusesOf(filter: JobFilter): JobStatus[] {
  const { status = JOB_STATUSES, delayed, retrying, finishedFrom, finishedTo } = filter;
  const isOfQueued = delayed !== undefined || retrying !== undefined;
  const isOfFinished = finishedFrom !== undefined || finishedTo !== undefined;
  return [...new Set(status)].filter(
    (one) =>
      (!isOfQueued || one === "queued") &&
      (!isOfFinished || (one !== "queued" && one !== "processing")),
  );
}

export function isOneOf(statuses: readonly JobStatus[]): string {
  const codes = statuses.map((status) => STATUSES.indexOf(status));
  const status = "coalesce(d.status, CASE WHEN p.seq IS NULL THEN 0 ELSE 4 END)";
  return codes.length === 0 ? "false" : `${status} IN (${codes.join(", ")})`;
}

/** `decided`: the words that the rows of a source have anyway. */
export function conditionsOf(
  query: Query,
  { filter, q, clock, frozenAt }: Wanted,
  { words, decided = [] }: { readonly words: Words; readonly decided?: readonly (keyof Words)[] },
): string[] {
  const conditions: string[] = [];
  const add = (
    word: keyof Words,
    sql: (value: string) => string,
    value: string | number | null | undefined,
  ): void => {
    if (value === undefined || value === null || decided.includes(word)) return;
    conditions.push(sql(query.value(value)));
  };
  const equal = (word: keyof Words, value: string | number | null | undefined): void =>
    add(word, (put) => `${words[word]} = ${put}`, value);
  equal("q", q);
  equal("grp", filter.group);
  equal("type", filter.type);
  equal("category", filter.category);
  equal("fingerprint", filter.fingerprint);
  equal("worker", filter.worker);
  const { tags, createdAt, finishedAt, attempts } = words;
  const hasTag = (tag: string) => `${tags}::jsonb @> jsonb_build_array(${tag}::text)`;
  add("tags", (tag) => `${tags} IS NOT NULL AND ${hasTag(tag)}`, filter.tag);
  add("createdAt", (value) => `${createdAt} >= ${value}`, filter.from);
  add("createdAt", (value) => `${createdAt} < ${value}`, filter.to);
  add("finishedAt", (value) => `${finishedAt} >= ${value}`, filter.finishedFrom);
  add("finishedAt", (value) => `${finishedAt} < ${value}`, filter.finishedTo);
  const { delayed, retrying } = filter;
  if (delayed !== undefined) {
    const seen = query.value(msOf(clock.seen));
    const now = clockMs(seen);
    conditions.push(delayed ? `a.run_at > ${now}` : `coalesce(a.run_at, 0) <= ${now}`);
  }
  if (retrying !== undefined && !decided.includes("attempts")) {
    conditions.push(`${attempts} ${retrying ? "> 0" : "= 0"}`);
  }
  if (delayed !== undefined || retrying !== undefined) {
    conditions.push("d.seq IS NULL AND p.seq IS NULL");
  }
  add("createdAt", (value) => `${createdAt} <= ${value}`, frozenAt);
  add("finishedAt", (value) => `coalesce(${finishedAt}, 0) <= ${value}`, frozenAt);
  return conditions;
}
