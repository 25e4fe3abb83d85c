/**
 * A process of the simulated world: a real `Holdfast` with its real worker, on a runtime, a wall
 * clock and a wire of its own.
 *
 *   starting ──▶ working ──stop──▶ stopping ──▶ ended
 *       └───────────┴──────crash, kill─┴───────────▲       (and frozen for a while, in any of them)
 *
 * A crash happens between two events or inside a handler. Afterwards nothing of the process runs: its
 * timers, deferred calls and answers are not delivered, and it sends nothing.
 */
import { StoreUnavailableError } from "../../packages/holdfast/src/core/errors.ts";
import { FINISHED_STATUSES } from "../../packages/holdfast/src/core/job.ts";
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import { Holdfast } from "../../packages/holdfast/src/holdfast.ts";
import type { Logger } from "../../packages/holdfast/src/engine/logger.ts";
import { sleep, type Runtime } from "../../packages/holdfast/src/engine/runtime.ts";
import type { Worker } from "../../packages/holdfast/src/engine/lease/worker.ts";
import type { VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";
import { CONTRACTS, CONTROLLED, FRAGILE, KINDS, METERED } from "./contracts.ts";
import { QUEUES, TICKS_EVERY_MS, type Kind } from "./contracts.ts";
import type { Draw } from "./draw.ts";
import { processRuntime } from "./process-runtime.ts";
import type { Settings } from "./settings.ts";
import type { HandlerHost } from "./doing.ts";
import { handlerOf } from "./handlers.ts";
import type { SimTransaction } from "./transaction.ts";
import type { Run, Watcher } from "./watcher.ts";
import type { Listener, Wire } from "./wire.ts";

/** Finished jobs are not kept for long, some not at all: long runs stay small, and pruning is tested. */
const RETENTION = {
  succeeded: { maxAgeMs: 30_000 },
  dead: { maxAgeMs: 90_000, maxCount: 60 },
  cancelled: { maxCount: 20 },
  queues: { gamma: { succeeded: { maxAgeMs: 0 } } },
};
const START_AGAIN_MS = 300;

/** One process's way to the database. */
export interface Connection {
  readonly wire: Wire;
  readonly store: Store;
  /** A handler's own. */
  readonly transaction: (run: Run) => SimTransaction;
}

export interface ProcessOptions {
  readonly name: string;
  readonly slot: number;
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly settings: Settings;
  /** Makes the wire and what stands on it, once the process has ears. */
  readonly connect: (listener: Listener) => Connection;
  readonly handlers: Omit<HandlerHost, "process">;
  /** A process that only produces and operates runs no worker. */
  readonly works: boolean;
  readonly onEnd: (process: SimProcess, killer: Run | null, how: "crash" | "stop") => void;
  readonly onEngineError: (message: string, error: unknown) => void;
}

export class SimProcess implements Listener {
  readonly name: string;
  readonly slot: number;
  readonly runtime: Runtime;
  readonly wire: Wire;
  readonly store: Store;
  readonly transaction: Connection["transaction"];
  readonly hf: Holdfast;
  readonly startedAt: number;
  readonly #options: ProcessOptions;
  #phase: "starting" | "working" | "stopping" | "ended" = "starting";
  #worker: Worker | null = null;
  #isFrozen = false;
  #thawedAt = -1;
  #held: (() => void)[] = [];
  #cutOffUntil = 0;
  #skewMs: number;
  #knowsStrangers = false;

  constructor(options: ProcessOptions) {
    const { name, slot, time, draw } = options;
    const { control } = options.settings;
    this.name = name;
    this.slot = slot;
    this.#options = options;
    this.startedAt = time.now;
    this.#skewMs = draw.between(-120_000, 120_000);
    const skewMs = () => this.#skewMs;
    this.runtime = processRuntime({ time, draw, process: this, skewMs });
    const { wire, store, transaction } = options.connect(this);
    this.transaction = transaction;
    this.wire = wire;
    this.store = store;
    this.hf = new Holdfast({
      store,
      runtime: this.runtime,
      logger: quietLogger((message, error, { type, jobId }) => {
        // After a freeze timers may speak in any order here: then the engine gives up before the hook does.
        if (this.isWaking && message.startsWith("the hook ")) return;
        // The action has happened, and is not taken back for its note.
        if (error instanceof StoreUnavailableError && message.startsWith("the audit entry")) return;
        if (type === "LOCK_FAILED_OPEN" && jobId) {
          return this.#tell((watcher) => watcher.ranLockless?.(jobId, name));
        }
        // Whoever must end while the store is away says what it could not hand in: that is all it can do.
        const isLastWord = this.isStopping && error instanceof StoreUnavailableError;
        if (!isLastWord) options.onEngineError(message, error);
      }),
      retention: RETENTION,
      // In a plain world entries come with the settles, from the wire: the judge knows which must be there.
      ...(control ? { alerts: { spike: null, dead: false } } : { ledger: false }),
    });
    const kinds = control ? [...KINDS, ...CONTROLLED] : KINDS;
    for (const kind of kinds) if (kind !== "stranger") this.#handle(kind);
    this.hf.schedule("tick-tock", {
      ...{ everyMs: TICKS_EVERY_MS, overlap: "queue", missed: "all" },
      job: CONTRACTS.quick.of({ tick: "tock" }),
    });
    for (const ending of FINISHED_STATUSES) {
      this.hf.on(ending, ({ id }) => {
        options.handlers.judge.tell((watcher) => watcher.announced?.(id, ending, name));
      });
    }
    if (draw.chance(0.5)) this.learnStrangers();
  }

  get isAlive(): boolean {
    return this.#phase !== "ended";
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  get isWorking(): boolean {
    return this.#phase === "working" && !this.#isFrozen;
  }

  get isStopping(): boolean {
    return this.#phase === "stopping";
  }

  get isWaking(): boolean {
    return this.#isFrozen || this.#thawedAt === this.runtime.monotonic();
  }

  get isCutOff(): boolean {
    return this.runtime.monotonic() < this.#cutOffUntil;
  }

  hear(callback: () => void): void {
    if (!this.isAlive) return;
    if (this.#isFrozen) this.#held.push(callback);
    else callback();
  }

  async start(): Promise<void> {
    const { settings, works } = this.#options;
    const { concurrency, leaseMs, renewMs, pollMs } = settings;
    while (works && !this.#worker) {
      try {
        this.#worker = await this.hf.work({
          queues: settings.control ? [...QUEUES, METERED, FRAGILE] : [...QUEUES],
          concurrency,
          leaseMs,
          renewMs,
          pollMs,
        });
      } catch {
        // The store was away when it was to be opened.
        await sleep(this.runtime, START_AGAIN_MS);
      }
    }
    if (this.#phase === "starting") this.#phase = "working";
  }

  /** As a deploy does it: finish or hand back, then go. */
  async stop(graceMs: number): Promise<void> {
    if (this.#phase !== "working") return;
    this.#phase = "stopping";
    this.#tell((watcher) => watcher.stopping?.(this.name));
    await this.hf.close({ graceMs });
    if (this.isAlive) this.#end(null, "stop");
  }

  crash(): void {
    if (this.isAlive) this.#end(null, "crash");
  }

  /** A handler takes the whole process down. */
  kill(run: Run): void {
    if (this.isAlive) this.#end(run, "crash");
  }

  freeze(): void {
    this.#isFrozen = true;
    this.#tell((watcher) => watcher.froze?.(this.name));
  }

  /** Everything that came due or arrived meanwhile happens now, in some order. */
  thaw(): void {
    if (!this.isAlive || !this.#isFrozen) return;
    this.#isFrozen = false;
    this.#tell((watcher) => watcher.thawed?.(this.name));
    this.#thawedAt = this.runtime.monotonic();
    const held = this.#held;
    this.#held = [];
    // Timers before answers, or as they came: both happen to real processes.
    if (this.#options.draw.chance(0.3)) held.reverse();
    for (const callback of held) this.runtime.defer(callback);
  }

  cutOff(ms: number): void {
    this.#cutOffUntil = this.runtime.monotonic() + ms;
  }

  reconnect(): void {
    this.#cutOffUntil = 0;
  }

  jumpClock(ms: number): void {
    this.#skewMs += ms;
  }

  #tell(show: (watcher: Watcher) => void): void {
    this.#options.handlers.judge.tell(show);
  }

  #end(killer: Run | null, how: "crash" | "stop"): void {
    this.#phase = "ended";
    this.#held = [];
    if (how === "crash") this.wire.cut();
    this.#options.onEnd(this, killer, how);
  }

  /** As after a deploy of newer code: from now on every type is known here. */
  learnStrangers(): void {
    // One that stops takes no handler any more.
    if (this.#knowsStrangers || this.isStopping || !this.isAlive) return;
    this.#knowsStrangers = true;
    this.#handle("stranger");
  }

  #handle(kind: Kind): void {
    const { handlers } = this.#options;
    this.hf.handle(CONTRACTS[kind], handlerOf(kind, { ...handlers, process: this }));
  }
}

/** Warnings and news are expected in a storm; an error of the engine's own is not. */
function quietLogger(
  onError: (
    message: string,
    error: unknown,
    about: { readonly type?: string; readonly jobId?: string },
  ) => void,
): Logger {
  const nothing = () => {};
  return {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (message, details = {}) =>
      onError(message, (details as { error?: unknown }).error, details),
  };
}
