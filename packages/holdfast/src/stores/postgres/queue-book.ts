/**
 * Queues have numbers, which stand in every row instead of their names. A queue exists from its first
 * job or setting on, and for ever. So what was read once stays true as long as the server does: one that
 * takes over from it may not have heard of the newest queues, and give their numbers to others. Then jobs
 * of one queue would be stored in another. So after a lost connection everything is read again.
 *
 * Adding one is a step of its own, committed before anything else: inside a caller's transaction it
 * keeps everybody else's first job of that queue waiting. So that is done only where there is no other
 * connection to do it on, and what was added there is believed once it was read through another one.
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

/** Whoever asks over connections, and knows how many of them were lost. */
export interface Source extends Asker {
  readonly losses: number;
}

export class QueueBook {
  readonly #db: Source;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Added in a caller's transaction, which may have been rolled back. */
  readonly #unsure = new Set<string>();
  #losses = 0;

  constructor(db: Source) {
    this.#db = db;
  }

  /** Null: nobody has heard of it. */
  async find(name: string): Promise<number | null> {
    return (await this.#learn([name])).get(name) ?? null;
  }

  /** Those that exist. */
  async findAll(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    return this.#learn([...new Set(names)]);
  }

  async findOrAdd(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const wanted = [...new Set(names)];
    const found = await this.#learn(wanted);
    const missing = wanted.filter((name) => !found.has(name));
    if (missing.length === 0) return found;
    await this.#db.rows(ADD, [missing]);
    return new Map([...found, ...(await this.#learn(missing))]);
  }

  /** Those that exist, also in the transaction of this connection. */
  async seenBy(asker: Asker, names: Iterable<string>): Promise<Map<string, number>> {
    this.#forgetAfterLoss();
    const wanted = [...new Set(names)];
    const found = this.#knownOf(wanted);
    const unknown = wanted.filter((name) => !found.has(name));
    const rows = unknown.length > 0 ? await asker.rows(BY_NAMES, [unknown]) : [];
    this.#keep(rows.filter(([, name]) => !this.#unsure.has(String(name))));
    for (const [q, name] of rows) found.set(String(name), Number(q));
    return found;
  }

  /** In the transaction of this connection. */
  async addIn(asker: Asker, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    for (const name of names) this.#unsure.add(name);
    await asker.rows(ADD, [names]);
    return this.seenBy(asker, names);
  }

  /** By number. Never inside a transaction: this may take a second connection. */
  async names(numbers: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    this.#forgetAfterLoss();
    const found = new Map([...numbers].map((q) => [q, this.#names.get(q)]));
    const unknown = [...found.keys()].filter((q) => found.get(q) === undefined);
    const learned = unknown.length > 0 ? await this.#db.rows(BY_NUMBERS, [unknown]) : [];
    for (const [name, q] of this.#keep(learned)) found.set(q, name);
    return new Map([...found].map(([q, name]) => [q, name ?? ""]));
  }

  async #learn(names: readonly string[]): Promise<Map<string, number>> {
    this.#forgetAfterLoss();
    const found = this.#knownOf(names);
    const unknown = names.filter((name) => !found.has(name));
    const learned = unknown.length > 0 ? await this.#db.rows(BY_NAMES, [unknown]) : [];
    for (const [name, q] of this.#keep(learned)) found.set(name, q);
    return found;
  }

  #knownOf(names: readonly string[]): Map<string, number> {
    const found = new Map<string, number>();
    for (const name of names) {
      const q = this.#numbers.get(name);
      if (q !== undefined) found.set(name, q);
    }
    return found;
  }

  /** The server we are connected with from now on may have other numbers: see above. */
  #forgetAfterLoss(): void {
    if (this.#losses === this.#db.losses) return;
    this.#losses = this.#db.losses;
    this.#numbers.clear();
    this.#names.clear();
  }

  /** What was committed. */
  #keep(rows: readonly Row[]): [name: string, q: number][] {
    return rows.map(([number, text]) => {
      const [q, name] = [Number(number), String(text)];
      this.#numbers.set(name, q);
      this.#names.set(q, name);
      this.#unsure.delete(name);
      return [name, q];
    });
  }
}
