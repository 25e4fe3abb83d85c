/**
 * One write transaction of several statements, seen by the verbs: the instant at which it happens,
 * what it counts, and the wakeups it owes once it has committed.
 *
 * It is begun and committed by `database.ts`, or for `within(tx)` by the caller.
 */
import type { FinishedStatus } from "../../core/job.ts";
import { clockUs, msOf, type Clock } from "./clock.ts";
import type { Row, Session, Value } from "./database.ts";
import { number } from "./row-values.ts";

export type Placement = "ready" | "delayed" | FinishedStatus;

export interface TransactionSettings {
  readonly clock: Clock;
  readonly remembersMs: number;
}

type Counts = Record<Placement, number>;

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const COUNT_UP = "SELECT holdfast.count_up($1, $2, $3, $4, $5, $6, $7)";

export class Transaction {
  readonly remembersMs: number;
  /** Milliseconds. */
  readonly now: number;
  /** Inside a caller's own transaction, which may stay open for long. */
  readonly isLate: boolean;
  /** Queues that may have ready jobs, by number, and jobs that have finished: said after the commit. */
  readonly woken = new Set<number>();
  readonly finished: string[] = [];
  readonly #session: Session;
  readonly #counts = new Map<number, Counts>();

  constructor(
    session: Session,
    { micros, isLate, remembersMs }: { micros: number; isLate: boolean; remembersMs: number },
  ) {
    this.#session = session;
    this.now = msOf(micros);
    this.isLate = isLate;
    this.remembersMs = remembersMs;
  }

  static async begin(
    session: Session,
    { clock, remembersMs }: TransactionSettings,
  ): Promise<Transaction> {
    const [row] = await session.script(`${BEGIN}; SELECT ${clockSql(clock)}`);
    if (row === undefined) throw new Error("a statement without a row");
    const micros = number(row, 0);
    clock.saw(micros);
    return new Transaction(session, { micros, isLate: false, remembersMs });
  }

  rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#session.rows(sql, values);
  }

  rowsOnce(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#session.rowsOnce(sql, values);
  }

  count(q: number, placement: Placement, jobs: number): void {
    const counts = this.#counts.get(q) ?? noCounts();
    counts[placement] += jobs;
    this.#counts.set(q, counts);
  }

  /** Writes what was counted: the last thing before the commit, since others may wait for it. */
  async flush(): Promise<void> {
    const counted = [...this.#counts].filter(([, counts]) => Object.values(counts).some(Boolean));
    this.#counts.clear();
    if (counted.length === 0) return;
    const of = (placement: Placement): number[] => counted.map(([, counts]) => counts[placement]);
    await this.#session.rows(COUNT_UP, [
      this.isLate,
      counted.map(([q]) => q),
      ...[of("ready"), of("delayed"), of("succeeded"), of("dead"), of("cancelled")],
    ]);
  }
}

/** In a script, which has no values: what was seen is put in as a number. */
export function clockSql({ seen }: Clock, notes = true): string {
  return clockUs(`${seen}::bigint`, String(notes));
}

function noCounts(): Counts {
  return { ready: 0, delayed: 0, succeeded: 0, dead: 0, cancelled: 0 };
}
