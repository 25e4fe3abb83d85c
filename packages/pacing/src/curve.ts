/**
 * How much work falls to which part of a span: a density made of straight pieces. Its cumulative curve is
 * inverted in closed form, with nothing but + − × ÷ and the square root, which IEEE 754 rounds in one way only.
 * So an instant is the same on every machine.
 */
import { InvalidOptionError } from "holdfast";

/** A straight piece of density over `[from, to)`, both from 0 to 1. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** Density at its two ends; never below 0. */
  readonly first: number;
  readonly last: number;
}

export class Curve {
  readonly #pieces: readonly Piece[];
  /** Share of the whole before each piece, and 1 at the end. */
  readonly #before: Float64Array;

  constructor(pieces: readonly Piece[]) {
    const masses = pieces.map(({ from, to, first, last }) => ((to - from) * (first + last)) / 2);
    const total = masses.reduce((sum, mass) => sum + mass, 0);
    if (!(total > 0 && Number.isFinite(total))) {
      throw new InvalidOptionError(
        "this distribution has no weight anywhere between start and end: give it a weight above 0, or a longer time",
      );
    }
    this.#pieces = pieces;
    this.#before = new Float64Array(pieces.length + 1);
    let sum = 0;
    masses.forEach((mass, at) => {
      this.#before[at] = sum / total;
      sum += mass;
    });
    this.#before[pieces.length] = 1;
  }

  /** Where the share `part` of all work is done: from 0 to 1, never falling. */
  place(part: number): number {
    const at = this.#pieceOf(part);
    const { from, to, first, last } = this.#pieces[at]!;
    const below = this.#before[at]!;
    const inside = (part - below) / (this.#before[at + 1]! - below);
    const share = inverseOf(first, last, Math.min(1, Math.max(0, inside)));
    return Math.min(to, from + (to - from) * share);
  }

  /** The share of all work that is done before `place`. */
  share(place: number): number {
    if (place <= 0) return 0;
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#pieces[middle]!.from <= place) low = middle;
      else high = middle - 1;
    }
    const { from, to, first, last } = this.#pieces[low]!;
    if (place < from) return this.#before[low]!;
    const within = Math.min(1, (place - from) / (to - from));
    const mass = first + last;
    const inside = mass === 0 ? 0 : (2 * first * within + (last - first) * within * within) / mass;
    return this.#before[low]! + (this.#before[low + 1]! - this.#before[low]!) * inside;
  }

  /** The last piece that begins at or below `part` and has any weight. */
  #pieceOf(part: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#before[middle]! <= part) low = middle;
      else high = middle - 1;
    }
    // Of `part` 1 the last piece may be empty: what it would divide by is 0.
    while (low > 0 && this.#before[low + 1]! === this.#before[low]!) low -= 1;
    return low;
  }
}

/** Of a density that goes straight from `first` to `last` over 0 to 1: where the share `part` is reached. */
function inverseOf(first: number, last: number, part: number): number {
  const slope = last - first;
  if (slope === 0) return part;
  // first·x + slope·x²/2 = part·(first + last)/2, in the form that loses no digits for small slopes.
  const root = Math.sqrt(first * first + slope * (first + last) * part);
  const sum = first + root;
  return sum === 0 ? 0 : ((first + last) * part) / sum;
}
