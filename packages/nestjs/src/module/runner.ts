/**
 * The worker of this process, for as long as the application lives. It belongs to a module that is not global: Nest
 * starts those after the global ones and stops them before, so what handlers need is there first and last.
 */
import { Logger } from "@nestjs/common";
import { StoreUnavailableError, type Holdfast, type Worker } from "holdfast";
import type { QueueWorkerService } from "../queue/queue-worker-service.ts";
import type { HoldfastModuleOptions } from "./module-options.ts";

/** How often a store that is away at the start is asked again, where the application goes on without. */
const AGAIN_MS = 5_000;

export interface RunnerParts {
  readonly hf: Holdfast;
  readonly options: HoldfastModuleOptions;
  readonly worker: QueueWorkerService;
  readonly startsWorkers: boolean;
}

export class HoldfastRunner {
  readonly #parts: RunnerParts;
  readonly #logger = new Logger("Holdfast");
  #starting: Promise<Worker | null> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { options, startsWorkers } = this.#parts;
    if (startsWorkers && options.start !== "manual") await this.start();
  }

  /** Running jobs end, or are handed back when their grace is over. */
  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Resolves when the worker is claiming; null where there is nothing to work on. May be called again. */
  start(): Promise<Worker | null> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = null;
      throw error;
    });
    return this.#starting;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const worker = await this.#starting?.catch(() => null);
    await worker?.stop();
  }

  async #start(): Promise<Worker | null> {
    const { hf, options } = this.#parts;
    if (options.work === false || this.#isStopping) return null;
    if (options.store === undefined && options.url === undefined) {
      this.#logger.log("Every job runs in its caller: there is no store");
      return null;
    }
    const queues = this.#queues();
    if (queues.size === 0) {
      this.#logger.log("No handler is registered: this process enqueues only");
      return null;
    }
    try {
      const worker = await hf.work();
      this.#parts.worker.works(queues);
      this.#logger.log(`Working on ${[...queues].join(", ")}`);
      return worker;
    } catch (error) {
      // Who chose to go on without the store starts without it, too.
      if (options.resilient === undefined || !(error instanceof StoreUnavailableError)) throw error;
      this.#logger.warn(`The store is away, work begins when it is back: ${error.message}`);
      this.#startLater();
      return null;
    }
  }

  #startLater(): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#starting = null;
      this.start().catch((error: unknown) => {
        this.#logger.error("The worker did not start", error instanceof Error ? error.stack : "");
        // The application runs on, so nobody starts it again: what is mended meanwhile is found.
        this.#startLater();
      });
    }, AGAIN_MS);
    this.#timer.unref();
  }

  /** As `hf.work` takes them. */
  #queues(): ReadonlySet<string> {
    const { hf, options } = this.#parts;
    const named = options.work === false ? undefined : options.work?.queues;
    if (named !== undefined) {
      return new Set(Array.isArray(named) ? (named as string[]) : Object.keys(named));
    }
    return new Set(hf.tools.workQueues());
  }
}
