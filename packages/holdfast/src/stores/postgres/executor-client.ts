/**
 * A caller's transaction whose connection is hidden behind a query builder: all we have is a function that
 * runs one statement in it. This makes a connection of it, as far as `within.ts` needs one.
 *
 * Such a driver answers rows in a form of its own: numbers as text or not, dates, parsed JSON, columns of
 * one name only once. So every statement is asked for one column of text, a whole row as PostgreSQL writes
 * it, and that is read here. Values go as text too, since drivers disagree about arrays and large numbers.
 *
 * Nothing tells when the transaction ends, and after its end the function may run in another one, on a
 * connection that went back to its pool. So the transaction is known by its number: another number inside
 * is the end, and outside the server is asked what became of it.
 */
import { NotInTransactionError } from "../../core/errors.ts";
import { AS_TEXT, type ClientLike, type PoolLike } from "./pool-like.ts";
import type { QueryLike, ResultLike } from "./pool-like.ts";
import { rowOfRecord } from "./row-of-record.ts";

/**
 * Runs one statement in the caller's transaction. Answers the rows, or an object that has them as `rows`.
 * Arrays among the values are written as text already.
 */
export type PostgresExecutor = (
  sql: string,
  values: (string | boolean | null)[],
) => PromiseLike<unknown>;

/** Between two questions about one transaction. */
const LOOK_EVERY_MS = 20;
const WHICH = "SELECT txid_current()";
const SQL_STATE = /^[0-9A-Z]{5}$/;

export function isExecutor(tx: unknown): tx is PostgresExecutor {
  return typeof tx === "function";
}

export class ExecutorClient implements ClientLike {
  readonly #run: PostgresExecutor;
  readonly #pool: PoolLike;
  #transaction: string | null = null;
  #isOver = false;
  #isLooking = false;
  #lookedAt = -Infinity;

  constructor(run: PostgresExecutor, pool: PoolLike) {
    this.#run = run;
    this.#pool = pool;
  }

  async query({ text, values = [] }: QueryLike): Promise<ResultLike> {
    let rows: unknown[][] = [];
    // Several in one message have no values, and no semicolon but between them.
    const statements = values.length > 0 ? [text] : text.split(";");
    for (const statement of statements) {
      rows = await this.#ask(statement.trim(), values);
      if (statement.startsWith("SAVEPOINT")) await this.#mustBeTheSame();
    }
    return { rows };
  }

  /** As a connection of `pg` says it. That a transaction has failed shows with its next statement. */
  getTransactionStatus(): "T" | "I" {
    this.#look();
    return this.#isOver ? "I" : "T";
  }

  async #ask(statement: string, values: readonly unknown[]): Promise<unknown[][]> {
    const wrapped = asRecords(statement);
    try {
      const answer = await this.#run(wrapped ?? statement, values.map(asText));
      return wrapped === null ? [] : rowsOf(answer).map((row) => rowOfRecord(onlyValueOf(row)));
    } catch (error) {
      throw serverErrorIn(error);
    }
  }

  async #mustBeTheSame(): Promise<void> {
    const [row] = await this.#ask(WHICH, []);
    const transaction = String(row?.[0]);
    this.#transaction ??= transaction;
    if (this.#transaction === transaction) return;
    this.#isOver = true;
    // The caller of this takes the savepoint back: nothing of ours stays in that other transaction.
    throw new NotInTransactionError(
      "within(tx) was given a tx that has ended: call within again in a new one",
    );
  }

  /** In the background: the next question has the answer. */
  #look(): void {
    const now = performance.now();
    if (this.#isOver || this.#isLooking || this.#transaction === null) return;
    if (now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#isLooking = true;
    this.#lookedAt = now;
    this.#statusFromOutside(this.#transaction)
      .then((status) => void (this.#isOver ||= status !== "in progress"))
      // A server that is away has ended it, or will answer later.
      .catch(() => {})
      .finally(() => void (this.#isLooking = false));
  }

  async #statusFromOutside(transaction: string): Promise<unknown> {
    const client = await this.#pool.connect();
    try {
      const text = "SELECT txid_status($1)";
      const query = { text, values: [transaction], rowMode: "array", types: AS_TEXT } as const;
      const [row] = (await client.query(query)).rows;
      return row?.[0];
    } finally {
      client.release();
    }
  }
}

/** Quoted texts, parentheses, and the words with which a statement that has to do with rows begins. */
const TOKENS = /'(?:[^']|'')*'|[()]|\b(?:SELECT|INSERT|UPDATE|DELETE)\b/g;

/** The same statement, with each of its rows as one text. Null: it answers none, SAVEPOINT for example. */
function asRecords(statement: string): string | null {
  const begin = mainStatement(statement);
  if (begin === null) return null;
  const main = statement.slice(begin);
  if (!main.startsWith("SELECT") && !/\bRETURNING\b/.test(main)) return null;
  // What writes may stand in a WITH only at the top, so the main statement becomes the last of the list.
  const list = begin === 0 ? "WITH" : `${statement.slice(0, begin).trimEnd()},`;
  return `${list} holdfast_row AS (${main}) SELECT holdfast_row::text AS row FROM holdfast_row`;
}

/** Where it begins, behind the list of a WITH: at the first of those words outside all parentheses. */
function mainStatement(statement: string): number | null {
  let depth = 0;
  for (const { 0: token, index } of statement.matchAll(TOKENS)) {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth === 0 && !token.startsWith("'")) return index;
  }
  return null;
}

function asText(value: unknown): string | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value;
  return Array.isArray(value) ? `{${value.map(asElement).join()}}` : String(value);
}

function asElement(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return `"${String(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function rowsOf(answer: unknown): readonly unknown[] {
  const rows: unknown = Array.isArray(answer)
    ? answer
    : (answer as { rows?: unknown } | null)?.rows;
  if (Array.isArray(rows)) return rows;
  throw new NotInTransactionError(
    "within(tx) was given a function that answers no rows: return what your driver answers, an array of rows or { rows }",
  );
}

/** By its place: a driver may rename columns. */
function onlyValueOf(row: unknown): string {
  return String(Object.values(row as object)[0]);
}

/** A query builder may wrap what the server said. */
function serverErrorIn(error: unknown): unknown {
  let at = error;
  for (let depth = 0; depth < 5 && typeof at === "object" && at !== null; depth++) {
    const { code, cause, meta } = at as { code?: unknown; cause?: unknown; meta?: unknown };
    if (at instanceof Error && "severity" in at && SQL_STATE.test(String(code))) return at;
    // Prisma has the code of the server beside its own.
    const { code: state, message } = Object(meta) as { code?: unknown; message?: unknown };
    if (typeof state === "string" && SQL_STATE.test(state)) {
      return Object.assign(new Error(String(message ?? state), { cause: error }), { code: state });
    }
    at = cause;
  }
  return error;
}
