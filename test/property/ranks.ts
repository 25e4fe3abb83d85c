/**
 * Fences and versions, made comparable between stores. A store is free in what numbers it gives, as
 * long as they grow; so each is shown by its rank among those of the same job or key that were seen
 * before: `#1`, `#2`, … Equal ranks mean equal relations: the same as before, or a newer one.
 */
import { Disagreement } from "./disagreement.ts";

/** Numbers below this were given by a caller (an adopted job's fence) and are shown as they are. */
const GIVEN_BELOW = 1_000_000;

export class Ranks {
  readonly #seen: Map<string, readonly number[]>;

  constructor(seen: ReadonlyMap<string, readonly number[]> = new Map()) {
    this.#seen = new Map(seen);
  }

  rank(of: string, number: number): string {
    if (number < GIVEN_BELOW) return `${number}`;
    const seen = this.#seen.get(of) ?? [];
    const index = seen.indexOf(number);
    if (index !== -1) return `#${index + 1}`;
    const last = seen.at(-1) ?? 0;
    if (number < last) throw new Disagreement(`the ${of} fell from ${last} to ${number}`);
    this.#seen.set(of, [...seen, number]);
    return `#${seen.length + 1}`;
  }

  copy(): Ranks {
    return new Ranks(this.#seen);
  }
}
