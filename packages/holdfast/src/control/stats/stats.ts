/** What the fleet did lately and what waits now, for people and for charts. */
import { StoreUnavailableError, UnsupportedError } from "../../core/errors.ts";
import type { LedgerFilter } from "../../core/ledger.ts";
import { COUNTED_TO } from "../../core/line.ts";
import { checkName } from "../../core/names.ts";
import { checkOptions, checkWhole } from "../../core/option-checks.ts";
import { Sketch, type Durations } from "../../core/sketch.ts";
import type { QueueCounts } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { FailingTypes, type FailingType } from "./failing-types.ts";
import { readFailures } from "./read-failures.ts";
import { readStats, Timeline, windowOf } from "./read-stats.ts";
import { HOUR_MS, HOURS_KEPT_MS, MINUTE_MS } from "./stats-records.ts";
import type { Series, SeriesRow } from "./tally.ts";

export type { Durations } from "../../core/sketch.ts";
export type { FailingType } from "./failing-types.ts";

export interface StatsQuery {
  /** Default: all of them. */
  readonly queue?: string | undefined;
  /** Default: all of them. Counts of what waits are never by type. */
  readonly type?: string | undefined;
  /** A minute to eight days, default one hour. By minute up to two hours, by hour beyond. */
  readonly lastMs?: number | undefined;
}

/** Jobs that workers have finished, by how. What was cancelled while it waited is not among them. */
export interface FinishedCounts {
  readonly succeeded: number;
  readonly dead: number;
  readonly cancelled: number;
}

export interface StatsPoint extends FinishedCounts {
  /** Attempts that failed, and whose jobs were tried again. */
  readonly retried: number;
  /** The minute or hour that began then. */
  readonly at: Date;
  readonly waitMs: Durations;
  readonly runMs: Durations;
}

export interface StatsView {
  /** `ledger`: the store is away, so only what the ledger knows is told; all else is zero. */
  readonly source: "store" | "ledger";
  /** By the store's clock. */
  readonly at: Date;
  /** Where the window begins: a whole minute or hour, at or before what was asked for. */
  readonly from: Date;
  /** In the window. */
  readonly finished: FinishedCounts;
  /** In the window: attempts that failed, and whose jobs were tried again. */
  readonly retried: number;
  /** Failed attempts of the last hour, whatever the window. Exact where there is a ledger, to 10,000. */
  readonly failedLastHour: number;
  /** The five types that failed most in the window. */
  readonly topFailing: readonly FailingType[];
  /** From when a job was due to when it started. */
  readonly waitMs: Durations;
  readonly runMs: Durations;
  /** How long the job that waits longest has been ready. Null: none is ready. */
  readonly oldestReadyMs: number | null;
  /** What is in the store now, of the queue or of all. */
  readonly counts: Omit<QueueCounts, "queue" | "oldestReadyAt">;
  /** One for each minute or hour of the window, oldest first. */
  readonly series: readonly StatsPoint[];
}

const NO_COUNTS = {
  ...{ ready: 0, delayed: 0, processing: 0, succeeded: 0, dead: 0, cancelled: 0, retrying: 0 },
};

export interface StatsOptions {
  /** Resolves once the store is open. */
  readonly ready: () => Promise<void>;
  readonly host: ExtensionHost;
  readonly ledgerHome: "store" | "elsewhere" | "nowhere";
  /** What this process counted is stored, so that it finds itself. */
  readonly store: () => Promise<void>;
}

export class Stats {
  readonly #options: StatsOptions;

  constructor(options: StatsOptions) {
    this.#options = options;
  }

  async read(query: StatsQuery = {}): Promise<StatsView> {
    const wanted = checkQuery(query);
    const { ready, ledgerHome } = this.#options;
    try {
      await ready();
      return await this.#fromStore(wanted);
    } catch (error) {
      const isAway = error instanceof StoreUnavailableError || error instanceof UnsupportedError;
      if (!isAway || ledgerHome !== "elsewhere") throw error;
      return this.#fromLedger(wanted);
    }
  }

  async #fromStore(wanted: Wanted): Promise<StatsView> {
    const { host, store } = this.#options;
    const [now, all] = await Promise.all([host.jobs.now(), host.jobs.count(), store()]);
    const window = windowOf(now, wanted.lastMs);
    const timeline = new Timeline(window.buckets);
    const failing = new FailingTypes();
    const [failedLastHour] = await Promise.all([
      this.#failedLastHour(wanted, now),
      readStats(host.records, window, (bucket, row) => {
        if (!isWanted(row, wanted)) return;
        const [, type, , retried, dead] = row;
        timeline.add(bucket, row);
        failing.add({ type, failed: retried + dead, dead });
      }),
    ]);
    const counts = all.filter(({ queue }) => wanted.queue === undefined || queue === wanted.queue);
    const oldestAt = Math.min(...counts.map(({ oldestReadyAt }) => oldestReadyAt ?? Infinity));
    const total = timeline.total();
    return {
      ...{ source: "store", at: new Date(now), from: new Date(window.from) },
      ...{ finished: finishedOf(total), retried: total.retried },
      ...{ failedLastHour, topFailing: failing.top() },
      ...{ waitMs: total.wait.durations(), runMs: total.run.durations() },
      oldestReadyMs: oldestAt === Infinity ? null : Math.max(0, now - oldestAt),
      counts: sumOf(counts),
      series: timeline.series.map((one, at) => ({
        at: new Date(window.from + at * window.bucketMs),
        ...{ ...finishedOf(one), retried: one.retried },
        ...{ waitMs: one.wait.durations(), runMs: one.run.durations() },
      })),
    };
  }

  /** By what was counted, where there is no ledger, or it does not answer. */
  async #failedLastHour(wanted: Wanted, now: number): Promise<number> {
    const { host, ledgerHome } = this.#options;
    try {
      if (ledgerHome !== "nowhere") return await this.#countFailures(wanted, now);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
    let failed = 0;
    await readStats(host.records, windowOf(now, HOUR_MS), (_, row) => {
      if (isWanted(row, wanted)) failed += row[3] + row[4];
    });
    return failed;
  }

  #countFailures(wanted: Wanted, now: number): Promise<number> {
    const filter = { ...failuresOf(wanted), from: now - HOUR_MS };
    return this.#options.host.ledger((book) => book.count(filter, COUNTED_TO));
  }

  /** The store is away, or there is none: what the ledger has is better than nothing. */
  async #fromLedger(wanted: Wanted): Promise<StatsView> {
    const { host } = this.#options;
    const now = host.runtime.wallClock();
    const from = now - wanted.lastMs;
    const [failedLastHour, failing] = await Promise.all([
      this.#countFailures(wanted, now),
      readFailures(host, { ...failuresOf(wanted), from }),
    ]);
    const { failed, dead } = failing.sum;
    const nothing = new Sketch().durations();
    return {
      ...{ source: "ledger", at: new Date(now), from: new Date(from) },
      ...{ finished: { succeeded: 0, dead, cancelled: 0 }, retried: failed - dead },
      ...{ failedLastHour, topFailing: failing.top(), waitMs: nothing, runMs: nothing },
      ...{ oldestReadyMs: null, counts: NO_COUNTS, series: [] },
    };
  }
}

interface Wanted {
  readonly queue: string | undefined;
  readonly type: string | undefined;
  readonly lastMs: number;
}

function checkQuery(query: StatsQuery): Wanted {
  checkOptions("stats", query, ["queue", "type", "lastMs"]);
  const { queue, type, lastMs = HOUR_MS } = query;
  return {
    queue: queue === undefined ? undefined : checkName("queue", queue),
    type: type === undefined ? undefined : checkName("type", type),
    lastMs: checkWhole("lastMs", lastMs, { min: MINUTE_MS, max: HOURS_KEPT_MS }),
  };
}

function isWanted([ofQueue, ofType]: SeriesRow, { queue, type }: Wanted): boolean {
  return (queue === undefined || queue === ofQueue) && (type === undefined || type === ofType);
}

function failuresOf({ queue, type }: Wanted): LedgerFilter {
  return {
    kind: "failure",
    ...(queue !== undefined && { queue }),
    ...(type !== undefined && { type }),
  };
}

function finishedOf({ succeeded, dead, cancelled }: Series): FinishedCounts {
  return { succeeded, dead, cancelled };
}

function sumOf(counts: readonly QueueCounts[]): StatsView["counts"] {
  const sum = { ...NO_COUNTS };
  for (const queue of counts) {
    for (const word of Object.keys(sum) as (keyof typeof sum)[]) sum[word] += queue[word];
  }
  return sum;
}
