/**
 * Alerts: what people are told without asking. Looked at a second after a job has died, and every minute; never
 * because a job succeeded. What concerns the whole fleet is looked at by one process a minute.
 */
import {
  ALERT_KINDS,
  alertOf,
  ALERTS_QUEUE,
  type Alert,
  type AlertKind,
} from "../../core/alert.ts";
import { HOUR_MS } from "../../core/alert-record.ts";
import { checkName } from "../../core/names.ts";
import { checkOneOf, checkOptions, checkWhole } from "../../core/option-checks.ts";
import { fillPage, type Extension, type ExtensionHost } from "../../engine/extension.ts";
import { outcomesOf, type OperationRecord } from "../operations/operation.ts";
import type { AlertSettings } from "./alert-options.ts";
import { deathEntry, gatherDeaths, tellDeaths, trimDeaths } from "./deaths.ts";
import { Deliveries } from "./deliveries.ts";
import { RaiseAlerts } from "./raise-alerts.ts";
import { lookAtMemory, lookAtQueues, lookForSpike } from "./watch-queues.ts";

/** Deaths that come together are told of together. */
const SOON_MS = 1_000;
const EVERY_MS = 60_000;
/** One process a minute looks for all: the chore comes every 45 to 60 s. */
const TURN = "holdfast/alerts/turn";
const TURN_MS = 40_000;
/** Queues with failures that one look counts; the others are next. */
const MOST_COUNTED = 100;
const OPERATION_TOLD_MS = 7 * 24 * HOUR_MS;

export interface AlertsQuery {
  readonly kind?: AlertKind | undefined;
  readonly queue?: string | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface AlertsPage {
  /** Newest first. */
  readonly alerts: readonly Alert[];
  readonly nextCursor: string | null;
}

export class Alerts {
  readonly #settings: AlertSettings;
  readonly #ready: () => Promise<ExtensionHost>;
  #host: ExtensionHost | null = null;
  #raise: RaiseAlerts | null = null;
  /** Queues with failures, and in how many more looks they are counted: entries may be on their way. */
  readonly #failing = new Map<string, number>();
  /** Until when a queue need not be counted again, on the monotonic clock. */
  readonly #toldUntil = new Map<string, number>();
  #hasDeaths = false;
  #isPlanned = false;
  #looking: Promise<number> = Promise.resolve(0);

  /** `ready` resolves once the store can be asked. */
  constructor(settings: AlertSettings, ready: () => Promise<ExtensionHost>) {
    this.#settings = settings;
    this.#ready = ready;
  }

  /** What was raised lately, by any process: the ledger keeps it. */
  async list(query: AlertsQuery = {}): Promise<AlertsPage> {
    checkOptions("alerts.list", query, ["kind", "queue", "limit", "cursor"]);
    const { kind, queue, limit = 50, cursor = null } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    const filter = {
      kind: "alert",
      ...(kind !== undefined && { state: checkOneOf("kind", kind, ALERT_KINDS) }),
      ...(queue !== undefined && { queue: checkName("queue", queue) }),
    };
    const { ledger, runtime } = await this.#ready();
    const page = await fillPage({ limit, cursor, runtime }, async (part) => {
      const { entries, nextCursor } = await ledger((book) => book.read(filter, part));
      return { items: entries, nextCursor };
    });
    return { alerts: page.items.map(({ body }) => alertOf(body)), nextCursor: page.nextCursor };
  }

  /** Looks now instead of within a minute. Answers how many alerts this process raised. */
  async look(): Promise<number> {
    await this.#ready();
    if (this.#host === null) return 0;
    return this.#look(() => this.#lookAll(() => false));
  }

  /** @internal Has it somebody to tell? Then this process runs the jobs of `holdfast.alerts`. */
  get delivers(): boolean {
    return this.#settings.notify.length > 0;
  }

  /** @internal */
  readonly extension = (host: ExtensionHost): Extension => {
    const { dead, memory, notify } = this.#settings;
    this.#host = host;
    this.#raise = new RaiseAlerts(host, new Deliveries(host, notify));
    host.events.on("failed", ({ queue }) => this.#failed(queue));
    host.events.on("dead", ({ queue }) => this.#died(queue));
    let isChecked = memory === null;
    return {
      name: "alerts",
      ...(dead && {
        decided: (attempt, outcome) =>
          outcome.kind === "die" && attempt.queue !== ALERTS_QUEUE
            ? { outcome, entries: [deathEntry(host, attempt, outcome)] }
            : undefined,
      }),
      chores: [
        {
          name: "alerts",
          everyMs: EVERY_MS,
          run: async ({ isStopped }) => {
            if (!isChecked) this.#sayWhatIsNotOffered(host);
            isChecked = true;
            await this.#look(() => this.#everyMinute(isStopped));
          },
        },
      ],
    };
  };

  /** @internal Too many of its jobs failed again. Told once, however often this is called. */
  readonly operationStopped = async (operation: OperationRecord): Promise<void> => {
    const { id, action, done, count: of, by, reason } = operation;
    const { failedAgain } = outcomesOf(operation);
    await this.#raise?.once(
      `operation/${id}`,
      (about) => ({
        ...{ ...about, kind: "operation", operation: id, action, done, of, failedAgain },
        ...{ by, reason },
        message: `operation ${id} (${action}) has stopped itself: ${failedAgain} of ${done} jobs failed again`,
      }),
      OPERATION_TOLD_MS,
    );
  };

  #failed(queue: string): void {
    // To count what failed to be told would never end.
    if (this.#settings.spike === null || queue === ALERTS_QUEUE) return;
    if ((this.#toldUntil.get(queue) ?? -Infinity) > this.#now) return;
    this.#failing.set(queue, 2);
  }

  #died(queue: string): void {
    if (queue === ALERTS_QUEUE) return;
    this.#failed(queue);
    if (this.#settings.dead) this.#hasDeaths = true;
    if (this.#isPlanned || (!this.#hasDeaths && !this.#failing.has(queue))) return;
    this.#isPlanned = true;
    const soon = () => {
      this.#isPlanned = false;
      void this.#look(() => this.#lookHere()).catch((error: unknown) => {
        // The chore looks again.
        this.#host?.logger.debug("alerts could not be looked at", { error });
      });
    };
    this.#host?.runtime.timer(SOON_MS, soon, { background: true });
  }

  /** One at a time. */
  #look(look: () => Promise<number>): Promise<number> {
    this.#looking = this.#looking.then(look, look);
    return this.#looking;
  }

  /** At what this process knows of. */
  async #lookHere(): Promise<number> {
    const [host, raise] = [this.#host!, this.#raise!];
    let told = 0;
    if (this.#hasDeaths) {
      this.#hasDeaths = false;
      try {
        told += await gatherDeaths(host, raise);
      } catch (error) {
        this.#hasDeaths = true;
        throw error;
      }
    }
    const { spike } = this.#settings;
    if (spike === null) return told;
    for (const [queue, looks] of [...this.#failing].slice(0, MOST_COUNTED)) {
      const found = await lookForSpike(host, raise, spike, queue);
      if (found === "told") told += 1;
      // Of one that another process told of, this one does not know when.
      const quietMs = { told: HOUR_MS, known: EVERY_MS, below: 0 }[found];
      if (quietMs > 0) this.#toldUntil.set(queue, this.#now + quietMs);
      // Behind those that were not counted yet: one that goes on failing must not keep them from it.
      this.#failing.delete(queue);
      if (quietMs === 0 && looks > 1) this.#failing.set(queue, looks - 1);
    }
    return told;
  }

  async #everyMinute(isStopped: () => boolean): Promise<number> {
    for (const [queue, until] of this.#toldUntil) {
      if (until <= this.#now) this.#toldUntil.delete(queue);
    }
    // Also where nothing but spikes is told of: a process that died while it told of one is found by all the others.
    return (await this.#takesTurn()) ? this.#lookAll(isStopped) : this.#lookHere();
  }

  /** Also at what concerns every process. */
  async #lookAll(isStopped: () => boolean): Promise<number> {
    const [host, raise] = [this.#host!, this.#raise!];
    const { dead, memory } = this.#settings;
    // Deaths of processes that died before they could look are found here.
    this.#hasDeaths ||= dead;
    let told = await this.#lookHere();
    if (isStopped()) return told;
    told += await lookAtQueues(host, raise, this.#settings);
    if (memory !== null && (await lookAtMemory(host, raise, memory))) told += 1;
    told += await raise.catchUp(isStopped, (key, found, now) => tellDeaths(raise, key, found, now));
    if (dead && !isStopped()) await trimDeaths(host);
    return told;
  }

  async #takesTurn(): Promise<boolean> {
    const { records, runtime } = this.#host!;
    const value = JSON.stringify({ mark: runtime.id() });
    const [result] = await records.swap([{ key: TURN, expect: null, value, ttlMs: TURN_MS }]);
    return result?.swapped === true || result?.current?.value === value;
  }

  #sayWhatIsNotOffered({ storeInfo, logger }: ExtensionHost): void {
    const { name, usedMemoryBytes, maxMemoryBytes } = storeInfo();
    if (usedMemoryBytes == null) {
      logger.warn(`alerts.memory has no effect: ${name} does not tell how much memory it uses`);
    } else if (maxMemoryBytes == null || maxMemoryBytes === 0) {
      logger.warn(`alerts.memory has no effect: ${name} has no bound (maxmemory) to compare with`);
    }
  }

  get #now(): number {
    return this.#host?.runtime.monotonic() ?? 0;
  }
}
