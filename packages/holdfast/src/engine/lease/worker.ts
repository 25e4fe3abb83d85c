/**
 * A worker: leases jobs of its queues and runs up to `concurrency` of them at once.
 *
 *   working ──stop()──▶ stopping ──all slots free, or grace and patience over──▶ stopped
 *
 * One lease call at a time. It asks for its free slots plus a small buffer: about as many jobs as its
 * slots took on in the last tenth of a second. What has not started within a second is handed back:
 * long jobs hold the slots, and somebody else may be free. Short of work it waits for a wakeup, the store's
 * own word on when to come back, or `pollMs`, whichever is first. Wakeups may be lost: the poll is
 * the truth.
 */
import { WorkerStoppedError } from "../../core/errors.ts";
import type { LeaseReply, Wakeup } from "../../core/store.ts";
import { Attempt } from "../run/attempt.ts";
import { Chores } from "../chores.ts";
import { DEFAULT_MAX_CRASHES } from "../../core/contract.ts";
import type { WorkerHealth } from "../operate/health.ts";
import { interleave } from "./interleave.ts";
import { JobRunner, type JobRunnerOptions } from "../run/job-runner.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LastAnswer } from "../last-answer.ts";
import { ABORT_PATIENCE_MS } from "../run/run-handler.ts";
import { waitAtMost, type Timer } from "../runtime.ts";
import { Settler } from "../settle/settler.ts";
import { isRetryable, retryDelayMs, StoreLink } from "../store-link.ts";
import { Suspects } from "./suspects.ts";
import { Contact } from "./contact.ts";
import { RecentStarts } from "./recent-starts.ts";
import { UnknownTypes } from "../run/unknown-types.ts";
import type { WorkSettings } from "./work-options.ts";

/** A job waits in the buffer no longer than this; then another worker may have it. */
const LONGEST_WAIT_MS = 1_000;
/** The buffer is no larger, however quick the jobs: one batch runs while the next is on its way. */
const BATCHES_AHEAD = 2;
/** How many batches of outcomes may be on their way before leasing waits for the store to take them. */
const MOST_UNSETTLED_BATCHES = 5;
/** Ready work that could not be had (others were quicker): look again soon, but do not spin. */
const CROWDED_MS = 10;

/** A suspect that may not run now is handed back for this long, or it would be leased in a circle. */
const SUSPECT_BACK_MS = 1_000;

export type WorkerHost = Pick<
  JobRunnerOptions,
  "runtime" | "logger" | "events" | "registry" | "retention" | "ledgerWriter" | "compose"
> & { readonly store: StoreLink["store"] };

export class Worker {
  readonly id: string;
  readonly #host: WorkerHost;
  readonly #settings: WorkSettings;
  readonly #link: StoreLink;
  readonly #keeper: LeaseKeeper;
  readonly #settler: Settler;
  readonly #runner: JobRunner;
  readonly #chores: Chores;
  readonly #lastLease: LastAnswer;
  readonly #running = new Set<Attempt>();
  readonly #waiting: Attempt[] = [];
  #phase: "working" | "stopping" | "stopped" = "working";
  #leasing: Promise<void> | null = null;
  #leaseAgain = false;
  #leaseFailures = 0;
  /** The last question was for jobs of capped lines, too. */
  #askedForAll = true;
  #pollTimer: Timer | null = null;
  #stopListening: () => void;
  #slotsFree: (() => void) | null = null;
  readonly #recentStarts: RecentStarts;
  readonly #suspects: Suspects;
  #bufferTimer: Timer | null = null;
  #stopped: Promise<void> | null = null;

  constructor(host: WorkerHost, settings: WorkSettings) {
    const { runtime, logger, store } = host;
    const { leaseMs, renewMs } = settings;
    this.id = runtime.workerId();
    this.#host = host;
    this.#settings = settings;
    const contact = new Contact({ longestGapMs: leaseMs / 2 });
    this.#link = new StoreLink({ store, runtime, logger, contact });
    this.#keeper = new LeaseKeeper({ link: this.#link, runtime, logger, leaseMs, renewMs });
    const onAnswered = (): void => this.#fill();
    this.#settler = new Settler({ link: this.#link, runtime, logger, onAnswered });
    this.#runner = new JobRunner({
      ...host,
      link: this.#link,
      keeper: this.#keeper,
      settler: this.#settler,
      unknownTypes: new UnknownTypes({ runtime, logger }),
    });
    this.#chores = new Chores({ ...host, link: this.#link, leaseMs });
    this.#lastLease = new LastAnswer(runtime);
    this.#recentStarts = new RecentStarts(runtime);
    this.#suspects = new Suspects({
      runtime,
      start: (suspect) => void this.#start(suspect),
      handBack: (suspect, done) => {
        const why = "another job that may kill its worker is here";
        this.#runner.release(suspect, why, { afterMs: SUSPECT_BACK_MS, done });
      },
      resume: () => this.#leaseSoon(),
    });
    this.#stopListening = store.onWakeup((wakeup) => this.#wake(wakeup));
  }

  /** Resolves when the first lease call was answered: it is claiming. */
  async start(): Promise<void> {
    this.#keeper.start();
    this.#chores.start();
    await this.#lease();
  }

  /** Running right now, by type: for people who want to know. */
  get running(): readonly { readonly id: string; readonly type: string }[] {
    return [...this.#running].map(({ job }) => ({ id: job.id, type: job.type }));
  }

  /** Nothing runs, waits or is on its way, and the last look found no work. */
  get isIdle(): boolean {
    const { size } = this.#running;
    return size + this.#waiting.length === 0 && this.#pollTimer !== null && this.#settler.isIdle;
  }

  /** Null once it stops. A worker whose slots are all taken asks for nothing: its renewals tell. */
  get health(): WorkerHealth | null {
    if (this.#phase !== "working") return null;
    const { leaseMs } = this.#settings;
    const { lastAnswer } = this.#link;
    const isFull = this.#wanted().limit <= 0 || this.#suspects.keepQuiet;
    const isClaiming = isFull || this.#lastLease.ageMs <= leaseMs;
    return {
      id: this.id,
      ok: isClaiming && lastAnswer.ageMs <= leaseMs,
      lastLeaseAt: this.#lastLease.lastAt,
      lastCallAt: lastAnswer.lastAt,
      running: this.#running.size,
    };
  }

  /**
   * Stops leasing, hands the buffer back, waits `graceMs` for what runs, then aborts the signals and
   * hands back what does not end: no attempt is spent. Calling again waits for the same stop.
   */
  stop(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#stop(options.graceMs ?? this.#settings.graceMs);
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #wake({ queues }: Wakeup): void {
    if (queues.some((queue) => this.#settings.queues.has(queue))) this.#leaseSoon();
  }

  #leaseSoon(): void {
    if (this.#leasing) this.#leaseAgain = true;
    else void this.#lease();
  }

  /** Never two calls at once; a wish that comes meanwhile is remembered. */
  async #lease(): Promise<void> {
    if (this.#leasing || this.#phase !== "working" || this.#suspects.keepQuiet) return;
    const { limit, cappedLimit } = this.#wanted();
    if (limit <= 0) return;
    this.#stopWaiting();
    this.#leaseAgain = false;
    this.#askedForAll = cappedLimit > 0;
    this.#leasing = this.#leaseOnce(limit, cappedLimit);
    await this.#leasing;
  }

  async #leaseOnce(limit: number, cappedLimit: number): Promise<void> {
    const { runtime, logger } = this.#host;
    const sentAt = runtime.monotonic();
    let waitMs: number;
    try {
      const reply = await this.#link.call((store) =>
        store.lease({
          worker: this.id,
          leaseMs: this.#settings.leaseMs,
          limit,
          cappedLimit,
          queues: this.#queueLimits(limit),
        }),
      );
      this.#leaseFailures = 0;
      this.#lastLease.answered();
      this.#leasing = null;
      this.#accept(reply, sentAt);
      waitMs = this.#waitMs(reply);
    } catch (error) {
      this.#leasing = null;
      this.#leaseFailures += 1;
      waitMs = retryDelayMs(this.#leaseFailures, runtime.random());
      if (!isRetryable(error)) logger.error("leasing failed; trying again", { error });
    }
    if (this.#phase !== "working") return;
    if (this.#leaseAgain && this.#leaseFailures === 0) waitMs = 0;
    if (waitMs > 0) this.#askIn(waitMs);
    // At once, and not when what waits has run: while it does, the store finds the next ones.
    else if (this.#waiting.length > 0 && this.#runsLow) void this.#lease();
    else this.#fill();
  }

  #askIn(ms: number): void {
    this.#pollTimer ??= this.#host.runtime.timer(ms, () => {
      // Over, whether it can ask now or not: a timer that is kept would keep a free slot from asking.
      this.#pollTimer = null;
      void this.#lease();
    });
  }

  #stopWaiting(): void {
    this.#pollTimer?.cancel();
    this.#pollTimer = null;
  }

  #waitMs({ jobs, nextInMs }: LeaseReply): number {
    if (nextInMs === 0) return jobs.length > 0 ? 0 : CROWDED_MS;
    const pollInMs = this.#pollInMs();
    return Math.min(nextInMs ?? pollInMs, pollInMs);
  }

  /** With chance in it, or the workers of a fleet would poll in step. */
  #pollInMs(): number {
    return this.#settings.pollMs * (0.75 + this.#host.runtime.random() / 4);
  }

  #wanted(): { limit: number; cappedLimit: number } {
    const { concurrency } = this.#settings;
    const held = this.#running.size + this.#waiting.length;
    const { batchItems } = this.#link;
    if (this.#settler.size > MOST_UNSETTLED_BATCHES * batchItems)
      return { limit: 0, cappedLimit: 0 };
    const free = Math.max(0, concurrency - held);
    const buffer = Math.min(BATCHES_AHEAD * batchItems, this.#recentStarts.lately());
    const limit = concurrency + buffer - held;
    return { limit: Math.min(limit, batchItems), cappedLimit: free };
  }

  #queueLimits(limit: number) {
    return [...this.#settings.queues].map(([queue, weight]) => ({ queue, limit, weight }));
  }

  #accept(reply: LeaseReply, sentAt: number): void {
    const leaseEndsAt = this.#keeper.leaseEndsAt(sentAt);
    const jobs = this.#settings.queues.size > 1 ? interleave(reply.jobs) : reply.jobs;
    for (const job of jobs) {
      const attempt = new Attempt(job, { worker: this.id, leaseEndsAt });
      attempt.onAbort = () => this.#lostWaiting(attempt);
      this.#keeper.hold(attempt);
      if (this.#isSuspect(attempt)) this.#suspects.take(attempt, { hasSlot: this.#hasSlot });
      else this.#waiting.push(attempt);
    }
    this.#suspects.startIfAlone();
    if (this.#phase === "working") this.#startWaiting();
    else this.#handBackWaiting();
  }

  /** Its lease ran out before it started: given back if it is still ours, and no attempt is spent. */
  #lostWaiting(attempt: Attempt): void {
    this.#handBack(attempt, "its lease ran out before it started");
  }

  get #hasSlot(): boolean {
    return this.#phase === "working" && this.#running.size < this.#settings.concurrency;
  }

  #startWaiting(): void {
    while (this.#hasSlot) {
      const attempt = this.#waiting.shift();
      if (!attempt) return;
      void this.#start(attempt);
    }
    if (this.#waiting.length > 0) this.#bufferTimer ??= this.#handBackLater();
  }

  /** What waited for a whole second has waited for long jobs. */
  #handBackLater(): Timer {
    const waiting = new Set(this.#waiting);
    return this.#host.runtime.timer(LONGEST_WAIT_MS, () => {
      this.#bufferTimer = null;
      for (const attempt of this.#waiting.filter((one) => waiting.has(one))) {
        this.#handBack(attempt, "it waited too long for a free slot");
      }
      if (this.#waiting.length > 0) this.#bufferTimer = this.#handBackLater();
    });
  }

  #handBack(attempt: Attempt, why: string): void {
    const at = this.#waiting.indexOf(attempt);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    attempt.onAbort = null;
    this.#runner.release(attempt, why);
  }

  async #start(attempt: Attempt): Promise<void> {
    attempt.onAbort = null;
    this.#running.add(attempt);
    try {
      await this.#runner.run(attempt);
    } catch (error) {
      const { logger } = this.#host;
      logger.error(`job ${attempt.job.id} ended in an error of the engine itself`, { error });
    }
    this.#running.delete(attempt);
    // Until the store has its outcome it is still in our hands, and a crash would still be its own.
    if (attempt.phase === "over") this.#suspects.ended(attempt);
    else attempt.onOver = () => this.#suspects.ended(attempt);
    this.#recentStarts.count();
    this.#slotFreed();
  }

  #slotFreed(): void {
    if (this.#phase === "working") {
      this.#startWaiting();
      const mayHaveMore = !this.#askedForAll && this.#leaseFailures === 0;
      if (mayHaveMore && this.#hasSlot) this.#stopWaiting();
      this.#fill();
    } else if (this.#running.size === 0) {
      this.#slotsFree?.();
    }
  }

  /** The buffer holds no more than there is room for. */
  get #runsLow(): boolean {
    const { limit } = this.#wanted();
    return limit > 0 && this.#waiting.length <= limit;
  }

  /** Asks for more when the buffer runs low, together with the settles of the same turn. */
  #fill(): void {
    if (this.#leasing || this.#pollTimer || this.#phase !== "working") return;
    if (this.#suspects.keepQuiet || !this.#runsLow) return;
    this.#leasing = new Promise((resolve) => {
      this.#host.runtime.defer(() => {
        this.#leasing = null;
        resolve();
        void this.#lease();
      });
    });
  }

  /** One crash away from poison. */
  #isSuspect({ job }: Attempt): boolean {
    const contract = this.#host.registry.get(job.type)?.contract;
    const maxCrashes = contract?.maxCrashes ?? DEFAULT_MAX_CRASHES;
    return job.crashes > 0 && job.crashes === maxCrashes - 1;
  }

  #handBackWaiting(): void {
    for (const attempt of [...this.#waiting]) this.#handBack(attempt, "the worker stopped");
  }

  async #stop(graceMs: number): Promise<void> {
    const { runtime } = this.#host;
    this.#phase = "stopping";
    this.#stopListening();
    this.#pollTimer?.cancel();
    this.#bufferTimer?.cancel();
    this.#chores.stop();
    this.#handBackWaiting();
    await this.#leasing;
    this.#suspects.close();
    const slotsFree = new Promise<void>((resolve) => (this.#slotsFree = resolve));
    if (this.#running.size > 0) await waitAtMost(runtime, slotsFree, graceMs);
    for (const attempt of this.#running) {
      attempt.abort(new WorkerStoppedError("the worker stops and its grace is over"));
    }
    if (this.#running.size > 0) {
      // Handlers that ignore their signal are settled without them after their patience.
      await waitAtMost(runtime, slotsFree, ABORT_PATIENCE_MS + 100);
    }
    await waitAtMost(runtime, this.#settler.idle(), ABORT_PATIENCE_MS);
    this.#settler.giveUp();
    this.#keeper.close();
    this.#phase = "stopped";
  }
}
