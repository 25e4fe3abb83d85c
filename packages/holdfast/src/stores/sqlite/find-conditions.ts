/** What a filter asks of a job, as SQL: each condition over a column that a source may have at hand. */
import type { JobFilter } from "../../core/store.ts";
import type { SqlValue } from "./database-like.ts";

export interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** What a job can be asked for. */
export type Asked =
  | "queue"
  | "group"
  | "type"
  | "tags"
  | "category"
  | "fingerprint"
  | "worker"
  | "createdAt"
  | "finishedAt"
  | "delayed"
  | "attempts";

/** Where to find it; null: the jobs of this source have none. */
export type Columns = { readonly [What in Asked]?: string | null };

/** For a source that has nothing but numbers. */
const ELSEWHERE: Readonly<Record<Asked, string>> = {
  queue: "j.q",
  group: "j.grp",
  type: "j.type",
  tags: "j.tags",
  category: "t.category",
  fingerprint: "t.fingerprint",
  worker:
    "coalesce((SELECT w.name FROM holdfast_worker w WHERE w.w = coalesce(p.w, d.w)), t.worker)",
  createdAt: "j.created_at",
  finishedAt: "d.finished_at",
  delayed: "a.run_at",
  attempts: "coalesce(a.attempts, r.attempts)",
};

/** What must be joined for a column of the left; `r` needs `n`, and both need `j`. */
const JOINS: readonly (readonly [alias: RegExp, join: string])[] = [
  [/\b[jnr]\./, "CROSS JOIN holdfast_job j ON j.seq = s.seq"],
  [/\bd\./, "LEFT JOIN holdfast_done d ON d.seq = s.seq"],
  [/\bp\./, "LEFT JOIN holdfast_leased p ON p.seq = s.seq"],
  [/\ba\./, "LEFT JOIN holdfast_later a ON a.seq = s.seq"],
  [/\bt\./, "LEFT JOIN holdfast_details t ON t.seq = s.seq"],
  [/\br\./, "LEFT JOIN holdfast_line n ON n.q = j.q AND n.grp = j.grp"],
  [/\br\./, "LEFT JOIN holdfast_ready r ON r.line = n.line AND r.prio = j.prio AND r.seq = j.seq"],
];

export interface AskedFilter {
  readonly filter: JobFilter;
  /** The number of the filter's queue. */
  readonly queue: number | null;
  readonly now: number;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt: number | undefined;
}

/** What the jobs of a source must still be asked for. Null: none of them can match. */
export function conditionsFor(
  { filter, queue, now, frozenAt }: AskedFilter,
  { columns, decided }: { readonly columns: Columns; readonly decided: readonly Asked[] },
): Condition[] | null {
  const conditions: Condition[] = [];
  let isImpossible = false;
  const ask = (what: Asked, value: SqlValue | undefined, sql: (column: string) => string): void => {
    if (value === undefined || decided.includes(what)) return;
    const column = columns[what] === undefined ? ELSEWHERE[what] : columns[what];
    if (column === null) isImpossible = true;
    else conditions.push({ sql: sql(column), values: sql(column).includes("?") ? [value] : [] });
  };
  const is = (column: string): string => `${column} = ?`;
  const { group, type, tag, category, fingerprint, worker, from, to } = filter;
  ask("queue", queue ?? undefined, is);
  ask("group", group, is);
  ask("type", type, is);
  ask("tags", tag, (tags) => `EXISTS (SELECT 1 FROM json_each(${tags}) e WHERE e.value = ?)`);
  ask("category", category, is);
  ask("fingerprint", fingerprint, is);
  ask("worker", worker, is);
  ask("createdAt", from, (at) => `${at} >= ?`);
  ask("createdAt", to, (at) => `${at} < ?`);
  ask("createdAt", frozenAt, (at) => `${at} <= ?`);
  ask("finishedAt", filter.finishedFrom, (at) => `${at} >= ?`);
  ask("finishedAt", filter.finishedTo, (at) => `${at} < ?`);
  if (filter.delayed !== undefined) {
    ask("delayed", now, (at) => (filter.delayed ? `${at} > ?` : `coalesce(${at}, 0) <= ?`));
  }
  if (filter.retrying !== undefined) {
    ask("attempts", 0, (attempts) => `${attempts} ${filter.retrying ? "> 0" : "= 0"}`);
  }
  if (columns.finishedAt !== null) {
    ask("finishedAt", frozenAt, (at) => `coalesce(${at}, 0) <= ?`);
  }
  return isImpossible ? null : conditions;
}

export function joinsFor(conditions: readonly Condition[]): string {
  const text = conditions.map(({ sql }) => sql).join(" ");
  return JOINS.filter(([alias]) => alias.test(text))
    .map(([, join]) => join)
    .join("\n");
}

export function whereOf(conditions: readonly Condition[]): string {
  const sqls = conditions.map(({ sql }) => sql).filter((sql) => sql !== "");
  return sqls.length === 0 ? "" : `WHERE ${sqls.join(" AND ")}`;
}

export function valuesOf(conditions: readonly Condition[]): SqlValue[] {
  return conditions.flatMap(({ values }) => values);
}
