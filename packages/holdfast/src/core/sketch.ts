/**
 * Durations added up so that their average, their largest and their quantiles can be told afterwards, from a
 * few hundred counters. Buckets grow by a factor of 2^(1/8), so a quantile is off by 4.5 % at most; average and
 * maximum are exact. Two sketches that are added are the sketch of all they have seen, in any order.
 */

/** From 1/16 of a millisecond on: what is shorter is in the first bucket. */
const SMALLEST_LOG2 = -4;
const PER_DOUBLING = 8;
/** Up to 2^31 ms, about 25 days: what is longer is in the last bucket. */
const BUCKETS = 2 + (31 - SMALLEST_LOG2) * PER_DOUBLING;

/** Sum, largest, the first bucket that has something, and the counts from there on. Empty: nothing was seen. */
export type SketchData = readonly number[];

export interface Durations {
  readonly count: number;
  readonly avg: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export class Sketch {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    const at = bucketOf(ms);
    this.#counts[at] = this.#counts[at]! + 1;
    this.#count += 1;
    this.#sum += ms;
    if (ms > this.#max) this.#max = ms;
  }

  addData(data: SketchData): void {
    if (data.length < 4) return;
    const [sum, max, first] = data as [number, number, number];
    for (let at = 3; at < data.length; at += 1) {
      const bucket = Math.min(first + at - 3, BUCKETS - 1);
      this.#counts[bucket] = this.#counts[bucket]! + data[at]!;
      this.#count += data[at]!;
    }
    this.#sum += sum;
    if (max > this.#max) this.#max = max;
  }

  addSketch(other: Sketch): void {
    for (let at = 0; at < BUCKETS; at += 1) {
      this.#counts[at] = this.#counts[at]! + other.#counts[at]!;
    }
    this.#count += other.#count;
    this.#sum += other.#sum;
    if (other.#max > this.#max) this.#max = other.#max;
  }

  data(): SketchData {
    if (this.#count === 0) return [];
    const first = this.#counts.findIndex((count) => count > 0);
    const last = this.#counts.findLastIndex((count) => count > 0);
    return [
      ...[rounded(this.#sum), rounded(this.#max), first],
      ...this.#counts.subarray(first, last + 1),
    ];
  }

  /** All zero if nothing was seen. */
  durations(): Durations {
    return {
      count: this.#count,
      avg: this.#count === 0 ? 0 : rounded(this.#sum / this.#count),
      p50: this.quantile(0.5),
      p95: this.quantile(0.95),
      p99: this.quantile(0.99),
      max: rounded(this.#max),
    };
  }

  /** The smallest duration that at least this share did not exceed. */
  quantile(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#count));
    if (this.#count === 0) return 0;
    for (let at = 0; at < BUCKETS; at += 1) {
      left -= this.#counts[at]!;
      if (left <= 0) return rounded(Math.min(middleOf(at), this.#max));
    }
    return rounded(this.#max);
  }
}

function bucketOf(ms: number): number {
  // Not a number, negative, or too short to matter.
  if (!(ms >= 2 ** SMALLEST_LOG2)) return 0;
  const at = 1 + Math.floor((Math.log2(ms) - SMALLEST_LOG2) * PER_DOUBLING);
  return at < BUCKETS ? at : BUCKETS - 1;
}

/** Where the error is the same to both ends. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** (SMALLEST_LOG2 + (bucket - 0.5) / PER_DOUBLING);
}

/** Microseconds are enough, and short to write. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
