/**
 * A worker: leases jobs of its queues and runs up to `concurrency` of them at once.
 *
 *   working ──stop()──▶ stopping ──all slots free, or grace and patience over──▶ stopped
 *
 * It puts together what each of its parts does by itself: the loop asks for jobs, the buffer and the
 * quarantine hold those that wait, the pipeline runs one, the keeper renews, the settler stores. Besides
 * its free slots it asks for a small buffer: about as many jobs as its slots took on in the last tenth
 * of a second.
 */
import type { EnqueueOptions } from "../../core/contract.ts";
import { DEFAULT_MAX_CRASHES } from "../../core/contract.ts";
import { WorkerStoppedError } from "../../core/errors.ts";
import { checkGrace } from "../../core/option-checks.ts";
import type { NewJob } from "../../core/job.ts";
import type { Extensions } from "../extensions.ts";
import type { Logger } from "../logger.ts";
import type { WorkerHealth } from "../operate/health.ts";
import type { Registry } from "../registry.ts";
import type { Retention } from "../retention.ts";
import { Attempt } from "../run/attempt.ts";
import { LeasedHost } from "../run/leased-host.ts";
import type { Pipeline } from "../run/pipeline.ts";
import { ABORT_PATIENCE_MS } from "../run/run-handler.ts";
import type { SpawnTarget } from "../run/running-job.ts";
import { waitAtMost, type Runtime } from "../runtime.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import { Settler } from "../settle/settler.ts";
import type { WatchedStore } from "../watched-store.ts";
import { Buffer } from "./buffer.ts";
import type { Fleet, WorkerView } from "./fleet.ts";
import type { IdleLooks } from "./idle-looks.ts";
import { interleave } from "./interleave.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LeaseLoop, type Leased, type Wanted } from "./lease-loop.ts";
import { Quarantine } from "./quarantine.ts";
import { RecentStarts } from "./recent-starts.ts";
import type { WorkSettings } from "./work-options.ts";

/** The buffer is no larger, however quick the jobs: one batch runs while the next is on its way. */
const BATCHES_AHEAD = 2;
/** How many batches of outcomes may be on their way before leasing waits for the store to take them. */
const MOST_UNSETTLED_BATCHES = 5;
const NOTHING: Wanted = { limit: 0, cappedLimit: 0, bytes: 0 };

export interface WorkerHost {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly extensions: Extensions;
  readonly pipeline: Pipeline;
  readonly retention: Retention;
  readonly ledgerWriter: LedgerWriter;
  readonly fleet: Fleet;
  readonly idleLooks: IdleLooks;
  readonly compose: (
    target: SpawnTarget,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ) => Promise<NewJob> | NewJob;
  /** Something may wait in the outbox. */
  readonly onOutbox: () => void;
  readonly onStopped: (worker: Worker) => Promise<void>;
}

export class Worker {
  readonly id: string;
  readonly #host: WorkerHost;
  readonly #settings: WorkSettings;
  readonly #keeper: LeaseKeeper;
  readonly #settler: Settler;
  readonly #leased: LeasedHost;
  readonly #loop: LeaseLoop;
  readonly #buffer: Buffer;
  readonly #quarantine: Quarantine;
  readonly #recentStarts: RecentStarts;
  readonly #running = new Set<Attempt>();
  #stopListening = () => {};
  #phase: "working" | "stopping" | "stopped" = "working";
  #slotsFree: (() => void) | null = null;
  #stopped: Promise<void> | null = null;

  constructor(host: WorkerHost, settings: WorkSettings) {
    const { runtime, logger, watched } = host;
    const { leaseMs, renewMs } = settings;
    this.id = runtime.workerId();
    this.#host = host;
    this.#settings = settings;
    this.#keeper = new LeaseKeeper({ watched, runtime, logger, leaseMs, renewMs });
    this.#settler = new Settler({
      ...{ watched, runtime, logger },
      onAnswered: () => this.#loop.fill(),
      onOutbox: host.onOutbox,
    });
    this.#leased = new LeasedHost({ ...host, keeper: this.#keeper, settler: this.#settler });
    this.#recentStarts = new RecentStarts(runtime);
    this.#buffer = new Buffer({
      runtime,
      handBack: (attempt, why) => this.#handBack(attempt, why),
    });
    this.#quarantine = new Quarantine({
      runtime,
      hasSlot: () => this.#hasSlot,
      start: (suspect) => void this.#start(suspect),
      handBack: (suspect, why, afterMs) => this.#handBack(suspect, why, afterMs),
    });
    this.#loop = new LeaseLoop({
      ...host,
      id: this.id,
      settings,
      wanted: () => this.#wanted(),
      runsLow: () => this.#runsLow,
      isBuffered: () => this.#buffer.size > 0,
      accept: (leased) => this.#accept(leased),
      heldUnder: (worker) => this.#keeper.heldUnder(worker),
    });
  }

  /** Resolves when the first lease call was answered: it is claiming. */
  async start(): Promise<void> {
    // Stopped while the fleet was told of it.
    if (this.#phase !== "working") return;
    this.#keeper.start();
    // Not before: a wakeup would lease jobs whose leases are not renewed yet.
    const { store } = this.#host.watched;
    this.#stopListening = store.onWakeup((wakeup) => this.#loop.wake(wakeup));
    await this.#loop.start();
  }

  /** Running right now, by type: for people who want to know. */
  get running(): readonly { readonly id: string; readonly type: string }[] {
    return [...this.#running].map(({ job }) => ({ id: job.id, type: job.type }));
  }

  /** Nothing runs, waits or is on its way, and the last look found no work. */
  get isIdle(): boolean {
    const held = this.#running.size + this.#buffer.size + this.#quarantine.size;
    const isSettled = this.#settler.isIdle && !this.#host.pipeline.isDeciding;
    return held === 0 && this.#loop.isAsleep && isSettled;
  }

  /** Null once it stops. A worker whose slots are all taken asks for nothing: its renewals tell. */
  get health(): WorkerHealth | null {
    if (this.#phase !== "working") return null;
    const { leaseMs } = this.#settings;
    const { lastAnswer } = this.#host.watched;
    const asksNothing = this.#wanted().limit <= 0 || this.#loop.isQuiet;
    const isClaiming = asksNothing || this.#loop.lastAnswer.ageMs <= leaseMs;
    return {
      id: this.id,
      ok: isClaiming && lastAnswer.ageMs <= leaseMs,
      lastLeaseAt: this.#loop.lastAnswer.lastAt,
      lastCallAt: lastAnswer.lastAt,
      running: this.#running.size,
    };
  }

  /** @internal */
  get leaseMs(): number {
    return this.#settings.leaseMs;
  }

  /** @internal */
  get active(): number {
    return this.#running.size;
  }

  /** @internal As other processes see it. */
  view(): WorkerView {
    const { queues, concurrency, leaseMs } = this.#settings;
    return {
      ...{ id: this.id, queues: [...queues.keys()], types: this.#host.registry.handledTypes() },
      ...{ concurrency, leaseMs, active: this.#running.size, running: this.running },
      isQuiet: this.#loop.isQuiet,
    };
  }

  /** @internal Leases nothing until told otherwise; what is here goes on. */
  quiet(isQuiet: boolean): void {
    this.#loop.quiet(isQuiet);
  }

  /**
   * Stops leasing, hands the buffer back, waits `graceMs` for what runs, then aborts the signals and
   * hands back what does not end: no attempt is spent. Calling again waits for the same stop.
   */
  async stop(options: { readonly graceMs?: number } = {}): Promise<void> {
    checkGrace("stop", options);
    this.#stopped ??= this.#stop(options.graceMs ?? this.#settings.graceMs);
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #wanted(): Wanted {
    const { concurrency, leaseBytes } = this.#settings;
    const { batchItems } = this.#host.watched;
    if (this.#settler.size > MOST_UNSETTLED_BATCHES * batchItems) return NOTHING;
    const bytes = leaseBytes - this.#buffer.bytes;
    if (bytes <= 0) return NOTHING;
    const held = this.#running.size + this.#buffer.size;
    const ahead = Math.min(BATCHES_AHEAD * batchItems, this.#recentStarts.lately());
    const limit = Math.min(concurrency + ahead - held, batchItems);
    return { limit, cappedLimit: Math.max(0, concurrency - held), bytes };
  }

  get #runsLow(): boolean {
    const { limit } = this.#wanted();
    return limit > 0 && this.#buffer.size <= limit;
  }

  #accept({ jobs, worker, sentAt }: Leased): void {
    const leaseEndsAt = this.#keeper.leaseEndsAt(sentAt);
    const acceptedAt = this.#host.runtime.monotonic();
    const inTurns = this.#settings.queues.size > 1 ? interleave(jobs) : jobs;
    for (const job of inTurns) {
      const attempt = new Attempt(job, { worker, leaseEndsAt, acceptedAt });
      this.#keeper.hold(attempt);
      if (this.#isSuspect(attempt)) this.#quarantine.take(attempt);
      else if (this.#hasSlot && this.#buffer.size === 0) void this.#start(attempt);
      else this.#buffer.add(attempt);
    }
    if (this.#phase === "working") {
      this.#quarantine.taken();
      this.#startWaiting();
    } else {
      this.#buffer.handBackAll("the worker stopped");
      this.#quarantine.close();
    }
  }

  /** One crash away from poison. */
  #isSuspect({ job }: Attempt): boolean {
    if (job.crashes === 0) return false;
    const contract = this.#host.registry.get(job.type)?.contract;
    return job.crashes === (contract?.maxCrashes ?? DEFAULT_MAX_CRASHES) - 1;
  }

  get #hasSlot(): boolean {
    return this.#phase === "working" && this.#running.size < this.#settings.concurrency;
  }

  #startWaiting(): void {
    while (this.#hasSlot) {
      const attempt = this.#buffer.next();
      if (!attempt) return;
      void this.#start(attempt);
    }
  }

  #handBack(attempt: Attempt, why: string, afterMs = 0): void {
    this.#host.pipeline.release(attempt, this.#leased, { why, afterMs });
  }

  async #start(attempt: Attempt): Promise<void> {
    this.#running.add(attempt);
    try {
      await this.#host.pipeline.run(attempt, this.#leased);
    } catch (error) {
      const { logger } = this.#host;
      logger.error(`job ${attempt.job.id} ended in an error of the engine itself`, { error });
    }
    this.#running.delete(attempt);
    this.#recentStarts.count();
    this.#slotFreed();
  }

  #slotFreed(): void {
    if (this.#phase === "working") {
      this.#quarantine.startNext();
      this.#startWaiting();
      this.#loop.slotFreed();
    } else if (this.#running.size === 0) {
      this.#slotsFree?.();
    }
  }

  async #stop(graceMs: number): Promise<void> {
    const { runtime, pipeline } = this.#host;
    this.#phase = "stopping";
    this.#stopListening();
    this.#buffer.handBackAll("the worker stopped");
    this.#quarantine.close();
    // The grace has begun, whatever a call that is on its way takes.
    const loopStopped = this.#loop.stop();
    const slotsFree = new Promise<void>((resolve) => (this.#slotsFree = resolve));
    if (this.#running.size > 0) await waitAtMost(runtime, slotsFree, graceMs);
    for (const attempt of this.#running) {
      attempt.abort(new WorkerStoppedError("the worker stops and its grace is over"));
    }
    if (this.#running.size > 0) {
      // Handlers that ignore their signal are settled without them after their patience.
      await waitAtMost(runtime, slotsFree, ABORT_PATIENCE_MS + 100);
    }
    await loopStopped;
    await waitAtMost(runtime, pipeline.decided(), ABORT_PATIENCE_MS);
    await waitAtMost(runtime, this.#settler.idle(), ABORT_PATIENCE_MS);
    this.#settler.giveUp();
    this.#keeper.close();
    this.#phase = "stopped";
    await this.#host.onStopped(this);
  }
}
