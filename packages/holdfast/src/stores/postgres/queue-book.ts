/**
 * Queues have numbers, which stand in every row instead of their names. A queue exists from its first
 * job or setting on, and for ever, so what was read once is true for the life of the store.
 *
 * Adding one is a step of its own, committed before anything else: inside a caller's transaction it
 * would keep everybody else's first job of that queue waiting.
 */
import type { Row, Value } from "./database.ts";

/** Whoever can ask: the database, or a transaction. */
export interface Asker {
  rows(sql: string, values?: readonly Value[]): Promise<Row[]>;
}

const BY_NAMES = "SELECT q, name FROM holdfast.queue WHERE name = ANY ($1)";
const BY_NUMBERS = "SELECT q, name FROM holdfast.queue WHERE q = ANY ($1)";
const ADD = `
  INSERT INTO holdfast.queue (name) SELECT x FROM unnest($1::text[]) AS x ORDER BY x
  ON CONFLICT (name) DO NOTHING`;

export class QueueBook {
  readonly #db: Asker;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();

  constructor(db: Asker) {
    this.#db = db;
  }

  /** Null: nobody has heard of it. */
  async find(name: string): Promise<number | null> {
    await this.#learn([name]);
    return this.#numbers.get(name) ?? null;
  }

  /** Those that exist. */
  async findAll(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const wanted = [...new Set(names)];
    await this.#learn(wanted);
    return this.#pick(wanted);
  }

  async findOrAdd(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const wanted = [...new Set(names)];
    await this.#learn(wanted);
    const missing = wanted.filter((name) => !this.#numbers.has(name));
    if (missing.length > 0) {
      await this.#db.rows(ADD, [missing]);
      await this.#learn(missing);
    }
    return this.#pick(wanted);
  }

  /** Reads names through another connection. It must see only what is committed. */
  async learnFrom(asker: Asker, names: Iterable<string>): Promise<void> {
    const unknown = [...new Set(names)].filter((name) => !this.#numbers.has(name));
    if (unknown.length > 0) this.#keep(await asker.rows(BY_NAMES, [unknown]));
  }

  /** By number. Never inside a transaction: this may take a second connection. */
  async names(numbers: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    const wanted = [...new Set(numbers)];
    const unknown = wanted.filter((q) => !this.#names.has(q));
    if (unknown.length > 0) this.#keep(await this.#db.rows(BY_NUMBERS, [unknown]));
    return new Map(wanted.map((q) => [q, this.#names.get(q) ?? ""]));
  }

  async #learn(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => !this.#numbers.has(name));
    if (unknown.length > 0) this.#keep(await this.#db.rows(BY_NAMES, [unknown]));
  }

  #keep(rows: readonly Row[]): void {
    for (const [q, name] of rows) {
      this.#numbers.set(String(name), Number(q));
      this.#names.set(Number(q), String(name));
    }
  }

  #pick(names: readonly string[]): Map<string, number> {
    const found = new Map<string, number>();
    for (const name of names) {
      const q = this.#numbers.get(name);
      if (q !== undefined) found.set(name, q);
    }
    return found;
  }
}
