/**
 * How many others lease from a line at the same time, guessed from how often they got ahead of us. In
 * a crowd a call does not begin with the first jobs, which everybody wants, but with a later pack of
 * as many: so the calls part, and together they still take the first ones first.
 *
 * Small calls never do that: whoever wants one job can well try again, and the order is exact.
 */
const LARGEST = 16;
const SMALL = 10;

export class Crowds {
  /** By queue. */
  readonly #sizes = new Map<string, number>();

  /** How many jobs of its only line to pass by. */
  skip(queue: string, quotas: readonly { readonly jobs: number }[]): number {
    const [only] = quotas;
    const size = this.#sizes.get(queue) ?? 0;
    if (only === undefined || quotas.length > 1 || only.jobs < SMALL || size === 0) return 0;
    return Math.floor(Math.random() * (size + 1)) * only.jobs;
  }

  /** Others got ahead. */
  met(queue: string): void {
    this.#sizes.set(queue, Math.min(LARGEST, (this.#sizes.get(queue) ?? 0) + 1));
  }

  /** Nobody was in the way: perhaps there is one less. */
  alone(queue: string): void {
    const size = this.#sizes.get(queue) ?? 0;
    if (size > 0 && Math.random() < 0.25) this.#sizes.set(queue, size - 1);
  }

  /** There was nothing left to pass by. */
  left(queue: string): void {
    this.#sizes.delete(queue);
  }
}
