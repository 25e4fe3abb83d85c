/**
 * Names of workers, by number. A name of thirty bytes in every running and finished job would be
 * nearly half of its row, and smaller rows mean fewer pages written with every settle. Names are never
 * deleted: each is one start of a worker.
 */
import type { Connection } from "./connection.ts";

const NUMBER_OF = "SELECT w FROM holdfast_worker WHERE name = ?";
const NAME_OF = "SELECT name FROM holdfast_worker WHERE w = ?";
const ADD = "INSERT INTO holdfast_worker (name) VALUES (?)";

export class WorkerBook {
  readonly #db: Connection;
  readonly #numbers = new Map<string, number>();

  constructor(db: Connection) {
    this.#db = db;
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name) ?? this.#find(name);
    if (known !== undefined) return known;
    this.#db.run(ADD, name);
    return this.#find(name) as number;
  }

  nameOf(number: number): string {
    return String(this.#db.value(NAME_OF, number) ?? "");
  }

  #find(name: string): number | undefined {
    const number = this.#db.value(NUMBER_OF, name) as number | undefined;
    if (number !== undefined) this.#numbers.set(name, number);
    return number;
  }
}
