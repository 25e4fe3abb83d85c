/** Counters and histograms with labels, bounded: past the bound everything new is counted under `other`. */
import type { Family, Labels, Sample } from "./exposition.ts";

const MOST_SERIES = 500;
/** In seconds, as the conventions for messaging have them. */
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 3600,
];

class Bounded<Value> {
  readonly series = new Map<string, { readonly labels: Labels; readonly value: Value }>();
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  of(labels: Labels): Value {
    const key = JSON.stringify(labels);
    const known = this.series.get(key);
    if (known) return known.value;
    if (this.series.size >= MOST_SERIES) {
      const other = Object.fromEntries(Object.keys(labels).map((name) => [name, "other"]));
      return this.#put(JSON.stringify(other), other);
    }
    return this.#put(key, labels);
  }

  #put(key: string, labels: Labels): Value {
    const known = this.series.get(key);
    if (known) return known.value;
    const value = this.#make();
    this.series.set(key, { labels, value });
    return value;
  }
}

export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #counts = new Bounded(() => ({ count: 0 }));

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels, count = 1): void {
    this.#counts.of(labels).count += count;
  }

  family(): Family {
    const all = [...this.#counts.series.values()];
    const samples = all.map(({ labels, value }) => ({ labels, value: value.count }));
    return { name: this.#name, help: this.#help, type: "counter", samples };
  }
}

export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #seen = new Bounded(() => ({ sum: 0, counts: BUCKETS.map(() => 0), all: 0 }));

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(labels: Labels, seconds: number): void {
    const seen = this.#seen.of(labels);
    seen.sum += seconds;
    seen.all += 1;
    const at = BUCKETS.findIndex((bound) => seconds <= bound);
    if (at !== -1) seen.counts[at] = (seen.counts[at] ?? 0) + 1;
  }

  family(): Family {
    const samples: Sample[] = [];
    for (const { labels, value } of this.#seen.series.values()) {
      let below = 0;
      for (const [at, bound] of BUCKETS.entries()) {
        below += value.counts[at] ?? 0;
        samples.push({ suffix: "_bucket", labels: { ...labels, le: String(bound) }, value: below });
      }
      samples.push({ suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: value.all });
      samples.push({ suffix: "_sum", labels, value: value.sum });
      samples.push({ suffix: "_count", labels, value: value.all });
    }
    return { name: this.#name, help: this.#help, type: "histogram", samples };
  }
}
