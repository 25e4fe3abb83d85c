/**
 * How many others lease from a line at the same time, guessed from how often they got ahead of us. Under
 * contention a call does not begin with the first jobs, which everybody wants, but with a later pack of
 * as many: so the calls part, and together they still take the first ones first.
 *
 * Small calls never do that: whoever wants one job can well try again, and the order is exact. Calls that
 * want many part in a better way, see `shared-cursor.ts`.
 */
const LARGEST = 16;
const SMALL = 10;

export class Contention {
  /** By queue. */
  readonly #sizes = new Map<string, number>();

  /** How many documents of its only line to pass by: so many are wanted, with so many jobs. */
  skip(queue: string, { jobs, documents }: { jobs: number; documents: number }): number {
    const size = this.#sizes.get(queue) ?? 0;
    if (jobs < SMALL || size === 0) return 0;
    return Math.floor(Math.random() * (size + 1)) * documents;
  }

  isContended(queue: string): boolean {
    return this.#sizes.has(queue);
  }

  /** Others got ahead. */
  met(queue: string): void {
    this.#sizes.set(queue, Math.min(LARGEST, (this.#sizes.get(queue) ?? 0) + 1));
  }

  /** Nobody was in the way: perhaps there is one less. */
  alone(queue: string): void {
    const size = this.#sizes.get(queue) ?? 0;
    if (size === 0 || Math.random() >= 0.25) return;
    if (size === 1) this.#sizes.delete(queue);
    else this.#sizes.set(queue, size - 1);
  }

  /** There was nothing left to pass by. */
  left(queue: string): void {
    this.#sizes.delete(queue);
  }
}
