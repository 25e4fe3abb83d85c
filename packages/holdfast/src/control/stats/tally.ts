/**
 * How attempts ended and how long they took, by queue and type. One of these is a minute of a process, a minute
 * or an hour of the fleet, or what a person asked for.
 */
import { Sketch, type SketchData } from "../../core/sketch.ts";

/** So many pairs of queue and type are told apart; all others are one. */
export const MOST_SERIES = 200;
/** The queue and the type of those that are not told apart: no queue has this name. */
const OTHER = "";

/** As it is stored: queue, type, succeeded, retried, dead, cancelled, waits, runs. */
export type SeriesRow = readonly [
  queue: string,
  type: string,
  succeeded: number,
  retried: number,
  dead: number,
  cancelled: number,
  wait: SketchData,
  run: SketchData,
];

export class Series {
  succeeded = 0;
  /** Attempts that failed and were tried again. */
  retried = 0;
  dead = 0;
  cancelled = 0;
  readonly wait = new Sketch();
  readonly run = new Sketch();

  get attempts(): number {
    return this.succeeded + this.retried + this.dead + this.cancelled;
  }

  addRow([, , succeeded, retried, dead, cancelled, wait, run]: SeriesRow): void {
    this.succeeded += succeeded;
    this.retried += retried;
    this.dead += dead;
    this.cancelled += cancelled;
    this.wait.addData(wait);
    this.run.addData(run);
  }

  addSeries(other: Series): void {
    this.succeeded += other.succeeded;
    this.retried += other.retried;
    this.dead += other.dead;
    this.cancelled += other.cancelled;
    this.wait.addSketch(other.wait);
    this.run.addSketch(other.run);
  }

  row(queue: string, type: string): SeriesRow {
    const { succeeded, retried, dead, cancelled, wait, run } = this;
    return [queue, type, succeeded, retried, dead, cancelled, wait.data(), run.data()];
  }
}

export class Tally {
  readonly #byQueue = new Map<string, Map<string, Series>>();
  readonly #most: number;
  #size = 0;

  /** One that many are added to has room for all; only what is stored is bounded. */
  constructor(most = Infinity) {
    this.#most = most;
  }

  series(queue: string, type: string): Series {
    return this.#byQueue.get(queue)?.get(type) ?? this.#newSeries(queue, type);
  }

  addRows(rows: readonly SeriesRow[]): void {
    for (const row of rows) this.series(row[0], row[1]).addRow(row);
  }

  addTally(other: Tally): void {
    for (const [queue, type, series] of other.#all()) this.series(queue, type).addSeries(series);
  }

  /** The largest; the rest of them is one. */
  rows(): SeriesRow[] {
    const all = [...this.#all()];
    if (all.length <= MOST_SERIES)
      return all.map(([queue, type, series]) => series.row(queue, type));
    const named = all.filter(([queue]) => queue !== OTHER);
    named.sort(([, , one], [, , next]) => next.attempts - one.attempts);
    const rest = new Series();
    for (const [, , series] of named.slice(MOST_SERIES - 1)) rest.addSeries(series);
    const before = this.#byQueue.get(OTHER)?.get(OTHER);
    if (before) rest.addSeries(before);
    const shown = named.slice(0, MOST_SERIES - 1);
    return [
      ...shown.map(([queue, type, series]) => series.row(queue, type)),
      rest.row(OTHER, OTHER),
    ];
  }

  *#all(): Generator<readonly [string, string, Series]> {
    for (const [queue, types] of this.#byQueue) {
      for (const [type, series] of types) yield [queue, type, series];
    }
  }

  #newSeries(queue: string, type: string): Series {
    const isFull = this.#size >= this.#most && queue !== OTHER;
    if (isFull) return this.series(OTHER, OTHER);
    const series = new Series();
    let types = this.#byQueue.get(queue);
    if (!types) this.#byQueue.set(queue, (types = new Map()));
    types.set(type, series);
    this.#size += 1;
    return series;
  }
}
