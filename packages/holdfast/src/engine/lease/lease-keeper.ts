/**
 * Keeps a worker's leases: renews all of them in one call every `renewMs`, carries what handlers say
 * meanwhile (progress and logs about once a second; steps and checkpoints at once), and declares an
 * attempt lost, or in doubt, when its time is up without an answer.
 */
import { JobCancelledError, LeaseLostError } from "../../core/errors.ts";
import { BATCH_BYTES } from "../../core/job.ts";
import type { LeaseRef, Renewal, RenewResult, Updates } from "../../core/store.ts";
import type { Logger } from "../logger.ts";
import { Batchers } from "../produce/batchers.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";
import type { Attempt } from "../run/attempt.ts";
import { sleep, type Runtime, type Timer } from "../runtime.ts";
import type { WatchedStore } from "../watched-store.ts";

/** Progress and logs are for people: about one write a second. */
const UPDATES_EVERY_MS = 1_000;
/** A tick this late means that something kept the event loop from turning. */
const BLOCKED_MS = 1_000;

export interface LeaseKeeperOptions {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly renewMs: number;
}

interface RenewRequest {
  readonly attempt: Attempt;
  readonly renewal: Renewal;
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #held = new Set<Attempt>();
  readonly #dirty = new Set<Attempt>();
  readonly #renewals: Batchers<RenewRequest, RenewResult>;
  /** A renewal of these has not been answered yet. */
  readonly #awaited = new Set<Attempt>();
  /** And the next one is due. */
  readonly #overdue = new Set<Attempt>();
  /** Types that have run since the last tick: one of them blocks the loop when it is late. */
  readonly #ranSince = new Set<string>();
  #renewTimer: Timer | null = null;
  #expiryTimer: Timer | null = null;
  #expiryAt = Infinity;
  #updateTimer: Timer | null = null;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#renewals = new Batchers({
      hasSeveralServers: () => options.watched.hasSeveralServers,
      queueOf: ({ attempt }) => attempt.job.queue,
      run: (requests) => this.#renew(requests),
      defer: (callback) => options.runtime.defer(callback),
      maxItems: options.watched.batchItems,
      maxBytes: BATCH_BYTES,
      bytesOf: ({ renewal }) => updateBytes(renewal.updates),
      isolate: (error) => !isRetryable(error),
    });
  }

  start(): void {
    this.#tickLater();
  }

  /** Attempts still held are no longer renewed. */
  close(): void {
    for (const timer of [this.#renewTimer, this.#expiryTimer, this.#updateTimer]) timer?.cancel();
    this.#renewTimer = this.#expiryTimer = this.#updateTimer = null;
    this.#held.clear();
    this.#dirty.clear();
  }

  /** When a lease granted or renewed by a call sent at `sentAt` must be given up as lost. */
  leaseEndsAt(sentAt: number): number {
    const { leaseMs } = this.#options;
    return sentAt + leaseMs - Math.min(1_000, leaseMs / 10);
  }

  hold(attempt: Attempt): void {
    this.#held.add(attempt);
    this.#watch(attempt.leaseEndsAt);
    // The reply took so long that the next tick may be too late.
    if (attempt.leaseEndsAt - attempt.acceptedAt <= this.#options.renewMs) this.#push(attempt);
  }

  drop(attempt: Attempt): void {
    if (attempt.startedAt !== null) this.#ranSince.add(attempt.job.type);
    this.#held.delete(attempt);
    this.#dirty.delete(attempt);
  }

  /** What is held of the leases taken under this name. */
  heldUnder(worker: string): LeaseRef[] {
    return [...this.#held].filter((held) => held.worker === worker).map(({ ref }) => ref);
  }

  /**
   * May how it ends be told to the store? Asked again at every decision: after a blocked loop no timer has
   * spoken.
   */
  check(attempt: Attempt): boolean {
    if (attempt.isInDoubt || attempt.settledWithin) return true;
    if (attempt.isLost) return false;
    if (this.#options.runtime.monotonic() < attempt.leaseEndsAt) return true;
    this.#lose(attempt, "its lease ran out before the store acknowledged a renewal");
    return false;
  }

  /** Throws `LeaseLostError` unless it runs and nothing has told its handler to stop for a lost lease. */
  demand(attempt: Attempt): void {
    if (attempt.phase === "running" && !attempt.isLost && this.check(attempt)) return;
    throw attempt.abortReason ?? lostLease(attempt, "nothing more of it is stored");
  }

  /** Progress or log lines are waiting to be written. */
  updatesWait(attempt: Attempt): void {
    this.#dirty.add(attempt);
    this.#updateTimer ??= this.#options.runtime.timer(UPDATES_EVERY_MS, () => {
      this.#updateTimer = null;
      for (const dirty of this.#dirty) this.#push(dirty);
      this.#dirty.clear();
    });
  }

  /** Resolves once the store has it, under the fence of this attempt. */
  write(attempt: Attempt, updates: Updates): Promise<void> {
    return this.#send(attempt, () => attempt.renewalWith(updates));
  }

  /** Resolves once the store knows that its handler starts: from then on a crash is charged to it. */
  async begin(attempt: Attempt): Promise<void> {
    await this.#send(attempt, () => ({ ...attempt.ref, starts: true }));
  }

  async #send(attempt: Attempt, renewal: () => Renewal): Promise<void> {
    const { runtime } = this.#options;
    for (let failures = 0; ;) {
      this.demand(attempt);
      try {
        attempt.renewalAsked();
        const asked = this.#renewals.add({ attempt, renewal: renewal() });
        const result = await attempt.orLost(asked);
        if (result === "lost") throw lostLease(attempt, "nothing more of it is stored");
        if (result !== "busy") return;
      } catch (error) {
        if (!isRetryable(error)) throw error;
      }
      failures += 1;
      await sleep(runtime, retryDelayMs(failures, runtime.random()));
    }
  }

  #tickLater(): void {
    const { runtime, renewMs, logger } = this.#options;
    const dueAt = runtime.monotonic() + renewMs;
    this.#renewTimer = runtime.timer(renewMs, () => {
      const lateMs = runtime.monotonic() - dueAt;
      if (lateMs > BLOCKED_MS) {
        for (const held of this.#held) {
          if (held.startedAt !== null) this.#ranSince.add(held.job.type);
        }
        const types = [...this.#ranSince];
        const among =
          types.length === 0
            ? "no handler ran meanwhile"
            : `handlers of ${types.join(", ")} ran meanwhile`;
        logger.warn(
          `the event loop was blocked for ${Math.round(lateMs)} ms (${among}): move long synchronous work to a worker thread`,
          { types },
        );
      }
      this.#ranSince.clear();
      for (const attempt of this.#held) this.#push(attempt);
      this.#tickLater();
    });
  }

  #push(attempt: Attempt): void {
    if (this.#isKeptByTransaction(attempt) || (attempt.isLost && !attempt.isInDoubt)) return;
    const updates = attempt.takeUpdates();
    attempt.renewalAsked();
    // In an outage they would pile up, and all be sent once it is over.
    if (!updates && this.#awaited.has(attempt)) return void this.#overdue.add(attempt);
    const renewal = updates ? attempt.renewalWith(updates) : attempt.ref;
    this.#awaited.add(attempt);
    this.#renewals.push({ attempt, renewal }, (error, result) => {
      this.#awaited.delete(attempt);
      const isOverdue = this.#overdue.delete(attempt);
      if (updates && (error !== null || result === "busy")) attempt.giveBackUpdates(updates);
      if (isOverdue && this.#held.has(attempt)) this.#push(attempt);
    });
  }

  /** What is settled inside a caller's open transaction has its row locked there, and most stores would wait. */
  #isKeptByTransaction(attempt: Attempt): boolean {
    if (!attempt.isTransactionOpen) return false;
    // Not before it is written there: the caller's own write would be in conflict.
    const { renewsInTransactions } = this.#options.watched.store.info();
    return renewsInTransactions !== true || !attempt.isWrittenWithin;
  }

  /** Those whose lease was given up while they waited are not sent: this worker runs them no more. */
  async #renew(all: readonly RenewRequest[]): Promise<RenewResult[]> {
    const requests = all.filter(({ attempt }) => !attempt.isLost || attempt.isInDoubt);
    const results = requests.length === 0 ? [] : await this.#call(requests);
    const byRequest = new Map(requests.map((request, at) => [request, results[at]]));
    return all.map((request) => byRequest.get(request) ?? "lost");
  }

  async #call(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    const { watched, runtime, leaseMs, renewMs } = this.#options;
    const sentAt = runtime.monotonic();
    const renewals = requests.map(({ renewal }) => renewal);
    const inside = new Set(
      requests.filter(({ attempt }) => attempt.isTransactionOpen).map(({ attempt }) => attempt),
    );
    const results = await watched.store.renew(renewals, leaseMs);
    for (let at = 0; at < requests.length; at += 1) {
      const { attempt } = requests[at]!;
      if (!this.#held.has(attempt)) continue;
      if (results[at] === "lost") this.#toldLost(attempt);
      else this.#toldKept(attempt, sentAt, inside.has(attempt));
      if (results[at] === "cancel") {
        attempt.abort(new JobCancelledError(`job ${attempt.job.id} was cancelled while it ran`));
      }
    }
    // The answer took so long that the next tick may be too late.
    if (this.leaseEndsAt(sentAt) - runtime.monotonic() <= renewMs) {
      const attempts = new Set(requests.map(({ attempt }) => attempt));
      for (const attempt of attempts) {
        this.#awaited.delete(attempt);
        this.#overdue.delete(attempt);
        if (this.#held.has(attempt)) this.#push(attempt);
      }
    }
    return results;
  }

  #toldKept(attempt: Attempt, sentAt: number, wasOpen: boolean): void {
    attempt.renewed(this.leaseEndsAt(sentAt), this.#options.runtime.monotonic());
    // Its transaction was over, and the job is still ours: it did not commit.
    const isOver = !wasOpen && !attempt.isTransactionOpen;
    if (attempt.settledWithin && isOver) attempt.rolledBack();
    if (this.#isWatched(attempt)) this.#watch(attempt.leaseEndsAt);
  }

  #toldLost(attempt: Attempt): void {
    // A decided attempt, or one in a caller's transaction, may just have been settled: the one that settled
    // it says what became of it.
    if (attempt.phase === "decided" || attempt.settledWithin) return;
    this.#lose(attempt, "another worker may have it");
  }

  /** One timer for the earliest end; a renewal only moves ends later, so it may fire for nothing. */
  #watch(endsAt: number): void {
    if (endsAt >= this.#expiryAt) return;
    const { runtime } = this.#options;
    this.#expiryTimer?.cancel();
    this.#expiryAt = endsAt;
    this.#expiryTimer = runtime.timer(endsAt - runtime.monotonic(), () => {
      this.#expiryTimer = null;
      this.#expiryAt = Infinity;
      const now = runtime.monotonic();
      for (const attempt of this.#held) if (this.#isWatched(attempt)) this.#expire(attempt, now);
      for (const attempt of this.#held) {
        if (this.#isWatched(attempt)) this.#watch(attempt.leaseEndsAt);
      }
    });
  }

  /** Does its time still matter? Not once it is decided, in doubt, or the database's to say. */
  #isWatched(attempt: Attempt): boolean {
    return attempt.phase !== "decided" && !attempt.isInDoubt && !attempt.settledWithin;
  }

  #expire(attempt: Attempt, now: number): void {
    const lateMs = now - attempt.leaseEndsAt;
    if (lateMs < 0) return;
    // A process that was blocked or frozen did not try: only a store that is away gets the benefit.
    if (attempt.isAwaitingRenewal && lateMs <= BLOCKED_MS) {
      attempt.doubt(lostLease(attempt, "the store has not answered a renewal for a whole lease"));
    } else {
      this.#lose(attempt, "its lease ran out before the store acknowledged a renewal");
    }
  }

  #lose(attempt: Attempt, why: string): void {
    this.drop(attempt);
    attempt.lose(lostLease(attempt, why));
  }
}

function lostLease(attempt: Attempt, why: string): LeaseLostError {
  return new LeaseLostError(`the lease of job ${attempt.job.id} is lost: ${why}`);
}

function updateBytes(updates: Updates | undefined): number {
  if (!updates) return 0;
  let length = updates.checkpoint?.length ?? 0;
  for (const line of updates.logs ?? []) length += line.length;
  for (const step of updates.steps ?? []) length += step.value.length;
  // UTF-16 units to UTF-8 bytes, at worst.
  return length * 3;
}
