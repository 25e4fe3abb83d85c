/** The workers of this process: started, counted, and forgotten once they have stopped. */
import { ALERTS_QUEUE } from "./core/alert.ts";
import type { Alerts } from "./control/alerts/alerts.ts";
import type { Schedules } from "./control/schedules/schedules.ts";
import type { Shards } from "./control/shards/shards.ts";
import type { Engine } from "./engine/create-engine.ts";
import {
  checkWorkOptions,
  withDefaults,
  type WorkOptions,
  type WorkSettings,
} from "./engine/lease/work-options.ts";
import { Worker } from "./engine/lease/worker.ts";
import { healthOf, type Health } from "./engine/operate/health.ts";
import { waitAtMost } from "./engine/runtime.ts";
import { RELAY, RELAY_TO_LEDGER } from "./engine/settle/relay.ts";

/** How long a stop waits until the fleet has heard of it. */
const LAST_BEAT_MS = 1_000;
/** Beside every user's own worker: slow receivers take none of its slots. Wakeups tell it of new ones; retries wait. */
const NOTIFIER = { queues: [ALERTS_QUEUE], concurrency: 4, pollMs: 10_000 };

export interface OwnWorkersOptions {
  readonly engine: Engine;
  readonly alerts: Alerts;
  readonly schedules: Schedules;
  readonly shards: Shards;
  readonly isClosed: () => boolean;
}

export class OwnWorkers {
  readonly #options: OwnWorkersOptions;
  readonly #all = new Set<Worker>();
  /** Those whose queues change with what the store says of shards. */
  readonly #following = new Map<Worker, () => void>();
  /** Delivers alerts, while this process has another worker and a receiver to tell. */
  #notifier: Promise<Worker> | null = null;

  constructor(options: OwnWorkersOptions) {
    this.#options = options;
  }

  get all(): readonly Worker[] {
    return [...this.#all];
  }

  health(isClosed: boolean): Health {
    const { hasStore, watched, ledgerWriter, spooler } = this.#options.engine;
    return healthOf({
      workers: this.all.flatMap((worker) => worker.health ?? []),
      // Without a store none is away.
      store: hasStore ? watched.lastAnswer : null,
      ledger: ledgerWriter.home === "elsewhere" ? ledgerWriter.lastAnswer : null,
      spooled: spooler?.size ?? null,
      isClosed,
    });
  }

  check(options: WorkOptions): WorkSettings {
    const { registry, work } = this.#options.engine;
    return checkWorkOptions(withDefaults(options, work), registry.handledQueues());
  }

  async work(settings: WorkSettings): Promise<Worker> {
    const worker = await this.#start(settings);
    const isTaken = settings.queues.has(ALERTS_QUEUE) || this.#notifier !== null;
    // Nobody would stop it any more.
    if (this.#options.isClosed()) return worker;
    if (this.#options.alerts.delivers && !isTaken) {
      this.#notifier = this.#start(checkWorkOptions(NOTIFIER, []));
      await this.#notifier;
    }
    return worker;
  }

  async #start(checked: WorkSettings): Promise<Worker> {
    const { engine, schedules, shards } = this.#options;
    const followed = shards.follow(checked.queues, checked.shards);
    const { composer, chores, fleet, logger, settings } = engine;
    const worker = new Worker(
      {
        ...engine,
        compose: async (target, payload, enqueueOptions) =>
          (await composer.compose(target, payload, enqueueOptions)).job,
        onOutbox: () => {
          for (const chore of [RELAY, RELAY_TO_LEDGER]) chores.soon(chore);
        },
        onStopped: (stopped) => this.#forget(stopped),
      },
      { ...checked, queues: followed.queues },
    );
    this.#following.set(worker, followed.end);
    this.#all.add(worker);
    // A store that is away is no reason not to work once it is back.
    const joined = fleet
      .join(worker)
      .then(() => settings.obey())
      .then(() => schedules.reconcile());
    await joined.catch((error: unknown) => {
      logger.warn("the record of this process could not be written yet", { error });
    });
    chores.working(true);
    await worker.start();
    return worker;
  }

  /** It has stopped: the fleet is told, and nothing here remembers it. */
  async #forget(worker: Worker): Promise<void> {
    const { fleet, chores, runtime } = this.#options.engine;
    this.#all.delete(worker);
    this.#following.get(worker)?.();
    this.#following.delete(worker);
    fleet.leave(worker);
    if (this.#all.size === 0) chores.working(false);
    await this.#stopNotifier(worker);
    // If this is not heard, its record is gone in twenty seconds.
    const beat = fleet.beat().catch(() => {});
    await waitAtMost(runtime, beat, LAST_BEAT_MS);
  }

  /** It works for as long as another worker does. */
  async #stopNotifier(stopped: Worker): Promise<void> {
    const notifier = await this.#notifier;
    if (notifier === null || notifier === stopped) return;
    if (this.all.some((worker) => worker !== notifier)) return;
    this.#notifier = null;
    await notifier.stop();
  }
}
