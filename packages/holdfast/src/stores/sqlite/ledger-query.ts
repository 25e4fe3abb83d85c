/** A filter of the ledger as SQL: which index is walked, and what each entry must still be asked for. */
import type { LedgerFilter } from "../../core/ledger.ts";
import type { Connection } from "./connection.ts";
import type { SqlValue } from "./database-like.ts";

export interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The place of an entry in the reading order. */
export interface Mark {
  readonly at: number;
  readonly n: number;
}

export interface LedgerQuery {
  readonly from: string;
  /** What the index finds by itself. */
  readonly range: readonly Condition[];
  /** What each row must be asked for. */
  readonly rest: readonly Condition[];
}

/** Each of these has an index together with the kind. */
const WITH_KIND = ["queue", "type", "category", "fingerprint", "state"] as const;
/** To tell which index has fewest. */
const PROBE_AT_MOST = 500;

export function ledgerQuery(
  db: Connection,
  filter: LedgerFilter,
  mark: Mark | null = null,
): LedgerQuery {
  const { ids, kind, jobId, from, to } = filter;
  const words = wordsOf(filter);
  const times: Condition[] = [];
  if (from !== undefined) times.push({ sql: "at >= ?", values: [from] });
  if (to !== undefined) times.push({ sql: "at < ?", values: [to] });
  if (mark !== null) times.push({ sql: "(at, n) < (?, ?)", values: [mark.at, mark.n] });
  const by = (index: string, decided: readonly string[]): LedgerQuery => ({
    from: `FROM holdfast_ledger INDEXED BY holdfast_ledger_${index}`,
    range: [...words.filter(({ column }) => decided.includes(column)), ...times],
    rest: words.filter(({ column }) => !decided.includes(column)),
  });
  if (ids !== undefined) {
    const listed = { sql: "id IN (SELECT value FROM json_each(?))", values: [JSON.stringify(ids)] };
    return { from: "FROM holdfast_ledger", range: [listed, ...times, ...words], rest: [] };
  }
  if (jobId !== undefined) return by("job", ["job_id"]);
  if (kind === undefined) return by("at", []);
  const indexed = WITH_KIND.filter((word) => filter[word] !== undefined);
  return fewestOf(
    db,
    indexed.length === 0 ? [by("kind", ["kind"])] : indexed.map((word) => by(word, ["kind", word])),
  );
}

function wordsOf(filter: LedgerFilter): (Condition & { readonly column: string })[] {
  const { kind, jobId, type, queue, group, category, fingerprint, company, isFinal } = filter;
  const columns = {
    ...{ kind, job_id: jobId, type, queue, grp: group, category, fingerprint, company },
    is_final: isFinal === undefined ? undefined : Number(isFinal),
    state: filter.state,
  };
  return Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, sql: `${column} = ?`, values: [value] }],
  );
}

function fewestOf(db: Connection, queries: readonly LedgerQuery[]): LedgerQuery {
  let [best] = queries as [LedgerQuery];
  if (queries.length === 1) return best;
  let fewest = Infinity;
  for (const query of queries) {
    const count = countOf(db, { ...query, rest: [] }, PROBE_AT_MOST);
    if (count < fewest) [best, fewest] = [query, count];
  }
  return best;
}

export function countOf(db: Connection, { from, range, rest }: LedgerQuery, upTo: number): number {
  const all = [...range, ...rest];
  const sql = `SELECT count(*) FROM (SELECT 1 ${from} ${whereOf(all)} LIMIT ? + 0)`;
  return Number(db.value(sql, ...valuesOf(all), upTo));
}

export function whereOf(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`;
}

export function valuesOf(conditions: readonly Condition[]): SqlValue[] {
  return conditions.flatMap(({ values }) => values);
}
