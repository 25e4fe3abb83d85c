/**
 * The instants of a plan. The i-th of N is computed on its own, from the inverse of the cumulative curve and a
 * seeded jitter: no list is kept, and every machine gets the same one.
 */
import { IndexedChance } from "./chance.ts";
import type { Curve } from "./curve.ts";
import { curveOf, type Distribution } from "./distribution.ts";

export interface Plan {
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** The first moment after it. */
  readonly end: number;
  readonly count: number;
  readonly distribution: Distribution;
  readonly seed: string;
  readonly segmentMs: number;
}

/** A slice of the span. */
export interface Segment {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  /** How many instants are in it. */
  readonly count: number;
  /** The first and the last index; of none, `lastIdx` is `firstIdx` − 1. */
  readonly firstIdx: number;
  readonly lastIdx: number;
}

export class Timeline {
  readonly plan: Plan;
  readonly #curve: Curve;
  readonly #jitter: IndexedChance;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#curve = curveOf(plan.distribution, plan);
    this.#jitter = new IndexedChance(plan.seed);
  }

  /** When the record with this index (from 0) is due. Never falls from one index to the next. */
  at(index: number): number {
    const { start, end, count } = this.plan;
    const part = (index + this.#jitter.at(index)) / count;
    const at = start + Math.floor((end - start) * this.#curve.place(part));
    return Math.min(end - 1, at);
  }

  /** How many instants come before this moment: also the first index at or after it. */
  countBefore(moment: number): number {
    const { start, end, count } = this.plan;
    if (moment <= start) return 0;
    if (moment >= end) return count;
    // The curve says where to look; the jitter moves it by one place at most, rounding by another.
    const near = Math.floor(this.#curve.share((moment - start) / (end - start)) * count);
    let low = Math.max(0, near - 4);
    let high = Math.min(count, near + 4);
    if (low > 0 && this.at(low - 1) >= moment) low = 0;
    if (high < count && this.at(high) < moment) high = count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.at(middle) < moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get segmentCount(): number {
    const { start, end, segmentMs } = this.plan;
    return Math.ceil((end - start) / segmentMs);
  }

  segment(number: number): Segment {
    const { start, end, segmentMs } = this.plan;
    const from = start + number * segmentMs;
    const to = Math.min(end, from + segmentMs);
    const firstIdx = this.countBefore(from);
    const next = this.countBefore(to);
    const count = next - firstIdx;
    return { number, start: from, end: to, count, firstIdx, lastIdx: next - 1 };
  }

  /** In which segment an index is. */
  segmentOf(index: number): number {
    return Math.floor((this.at(index) - this.plan.start) / this.plan.segmentMs);
  }

  /** How many are due in each of so many equal parts of the span: the planned curve, for people. */
  planned(parts: number): number[] {
    const { start, end } = this.plan;
    const bounds = Array.from({ length: parts + 1 }, (_, at) =>
      this.countBefore(start + Math.round(((end - start) * at) / parts)),
    );
    return bounds.slice(1).map((bound, at) => bound - bounds[at]!);
  }

  /**
   * Instants from `from` on, at most `limit`, for tools that want the list: the first in full, then how many
   * milliseconds each comes after the one before.
   */
  deltas(
    from: number,
    limit: number,
  ): { readonly first: number | null; readonly deltas: number[] } {
    const until = Math.min(this.plan.count, from + limit);
    if (from >= until) return { first: null, deltas: [] };
    const first = this.at(from);
    const deltas: number[] = [];
    for (let index = from + 1, before = first; index < until; index += 1) {
      const at = this.at(index);
      deltas.push(at - before);
      before = at;
    }
    return { first, deltas };
  }
}
