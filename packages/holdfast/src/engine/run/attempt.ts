/**
 * One leased job in this process, from the lease to its end:
 *
 *   waiting ──start──▶ running ──decide──▶ decided ──end──▶ over
 *      │                  │                                  ▲
 *      └──────────── decided, or ended, without a run ───────┘
 *
 * Time alone ends trust: past `leaseEndsAt` (send time of the last acknowledged lease or renewal, plus
 * the lease, less a margin, on this process's own monotonic clock) another worker may have the job.
 * An attempt that is not decided by then is lost: its signal aborts and nothing it says is sent. One
 * that was decided before is sent until the store answers; the fence lets a late one change nothing.
 *
 * If a renewal was asked for in time and the store did not answer, the attempt is *in doubt* instead. Its
 * signal aborts all the same (unless its type goes on through outages), but how it ended is sent under
 * its fence once the store answers: no other worker ran the job, or the fence says so.
 *
 * Only this file moves the phase and calls the listeners.
 */
import { LeaseLostError, type HoldfastError } from "../../core/errors.ts";
import { LOG_LENGTH, type NewJob, type Progress } from "../../core/job.ts";
import type { LeaseRef, LeasedJob, Renewal, Updates, WithinTransaction } from "../../core/store.ts";

export type AttemptPhase = "waiting" | "running" | "decided" | "over";

export interface AttemptOptions {
  /** The name it was leased under. */
  readonly worker: string;
  readonly leaseEndsAt: number;
  /** Monotonic: when it came into this process. */
  readonly acceptedAt: number;
}

export class Attempt {
  readonly job: LeasedJob;
  readonly worker: string;
  readonly acceptedAt: number;
  /** Stored with the success. */
  readonly spawned: NewJob[] = [];
  spawnedBytes = 0;
  /** A caller's transaction this handler writes through, which keeps every other writer waiting. */
  blockedBy: WithinTransaction | null = null;
  /** Monotonic: when its handler started. */
  startedAt: number | null = null;
  #phase: AttemptPhase = "waiting";
  #leaseEndsAt: number;
  #isAwaitingRenewal = false;
  #isInDoubt = false;
  #goesOnThroughOutages = false;
  #abortReason: HoldfastError | null = null;
  #onAbort: ((reason: HoldfastError) => void) | null = null;
  #onOver: (() => void) | null = null;
  #settledWithin: WithinTransaction | null = null;
  #isWrittenWithin = false;
  #wasRolledBack = false;
  #controller: AbortController | null = null;
  #updatesOrder = 0;
  /** Made with the first that waits: most attempts have none. */
  #waiters: Set<(reason: HoldfastError) => void> | null = null;
  #progress: Progress | null = null;
  #logs: string[] = [];

  constructor(job: LeasedJob, options: AttemptOptions) {
    this.job = job;
    this.worker = options.worker;
    this.acceptedAt = options.acceptedAt;
    this.#leaseEndsAt = options.leaseEndsAt;
  }

  // ── its phases ────────────────────────────────────────────────────────────────────────────────

  get phase(): AttemptPhase {
    return this.#phase;
  }

  /** Its handler may run. Who listened while it waited is not called any more. */
  start(options: { readonly goesOnThroughOutages?: boolean } = {}): void {
    this.#phase = "running";
    this.#onAbort = null;
    this.#goesOnThroughOutages = options.goesOnThroughOutages ?? false;
  }

  /** Its outcome is known, and only the settler has it now. False: it was known before. */
  decide(): boolean {
    if (this.#phase === "decided" || this.#phase === "over") return false;
    this.#phase = "decided";
    this.#onAbort = null;
    return true;
  }

  /** Settled, lost, or given up. */
  end(): void {
    this.#phase = "over";
    this.#onAbort = null;
    this.#onOver?.();
    this.#onOver = null;
  }

  /** Calls once, when it is over; at once if it is. */
  whenOver(listener: () => void): void {
    if (this.#phase === "over") listener();
    else this.#onOver = listener;
  }

  // ── its lease ─────────────────────────────────────────────────────────────────────────────────

  get leaseEndsAt(): number {
    return this.#leaseEndsAt;
  }

  get ref(): LeaseRef {
    const { id, queue, handle, fence } = this.job;
    return { id, queue, handle, fence };
  }

  /** A renewal is on its way, or waits for one that is. */
  renewalAsked(): void {
    this.#isAwaitingRenewal = true;
  }

  renewed(leaseEndsAt: number, now: number): void {
    this.#leaseEndsAt = leaseEndsAt;
    this.#isAwaitingRenewal = false;
    // One whose signal has aborted stays in doubt: its handler was told to stop. So does one whose answer
    // comes so late that its time is up again.
    if (!this.isLost && leaseEndsAt > now) this.#isInDoubt = false;
  }

  /** A renewal was asked for, and the store has not answered. */
  get isAwaitingRenewal(): boolean {
    return this.#isAwaitingRenewal;
  }

  /** The store did not answer in time: the job may still be ours, and its fence will tell. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  get isLost(): boolean {
    return this.#abortReason instanceof LeaseLostError;
  }

  /** The time is up because the store did not answer. */
  doubt(reason: LeaseLostError): void {
    this.#isInDoubt = true;
    if (!this.#goesOnThroughOutages) this.abort(reason);
  }

  /** The job is another's, or may be. */
  lose(reason: LeaseLostError): void {
    this.#isInDoubt = false;
    this.abort(reason);
  }

  // ── its signal ────────────────────────────────────────────────────────────────────────────────

  /** Made when first asked for: most handlers never look at it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Why the signal aborted, once it has. */
  get abortReason(): HoldfastError | null {
    return this.#abortReason;
  }

  /** Calls when the signal aborts, until the phase changes; at once if it has. */
  whenAborted(listener: (reason: HoldfastError) => void): void {
    this.#onAbort = listener;
    if (this.#abortReason) listener(this.#abortReason);
  }

  /** The first reason counts, but a lost lease overrules any other: nothing may be sent after it. */
  abort(reason: HoldfastError): void {
    if (this.#phase === "over" || this.isLost) return;
    const isFirst = this.#abortReason === null;
    if (!isFirst && !(reason instanceof LeaseLostError)) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    if (this.isLost) for (const reject of this.#waiters ?? []) reject(reason);
    this.#onAbort?.(reason);
  }

  /** What it says, or a rejection as soon as the lease is lost: its caller does not wait for a store that is away. */
  orLost<T>(answer: Promise<T>): Promise<T> {
    const waiters = (this.#waiters ??= new Set());
    return new Promise((resolve, reject) => {
      waiters.add(reject);
      const over = (): void => void waiters.delete(reject);
      answer.then(resolve, reject).then(over, over);
    });
  }

  // ── a caller's transaction ────────────────────────────────────────────────────────────────────

  /** Settled inside this transaction: whether that happened is the database's to say. */
  get settledWithin(): WithinTransaction | null {
    return this.#settledWithin;
  }

  /** Its transaction has not ended. One that cannot be asked any more has. */
  get isTransactionOpen(): boolean {
    try {
      return this.#settledWithin?.isOpen() ?? false;
    } catch {
      return false;
    }
  }

  /** A transaction in which it was settled did not commit, and no later one has settled it. */
  get wasRolledBack(): boolean {
    return this.#wasRolledBack;
  }

  settlesWithin(transaction: WithinTransaction): void {
    this.#settledWithin = transaction;
    this.#isWrittenWithin = false;
    this.#wasRolledBack = false;
  }

  /** The transaction has what it was settled with: the store has answered. */
  writtenWithin(): void {
    this.#isWrittenWithin = true;
  }

  get isWrittenWithin(): boolean {
    return this.#isWrittenWithin;
  }

  /** The transaction is over, and the job is still held under its fence. */
  rolledBack(): void {
    this.#settledWithin = null;
    this.#wasRolledBack = true;
  }

  /** It was refused in the transaction: nothing is settled there. */
  notSettledWithin(): void {
    this.#settledWithin = null;
  }

  // ── what it says while it runs ────────────────────────────────────────────────────────────────

  /** A renewal that carries something; one that is sent later counts as later, however it arrives. */
  renewalWith(updates: Updates): Renewal {
    this.#updatesOrder += 1;
    return { ...this.ref, updates, order: this.#updatesOrder };
  }

  setProgress(progress: Progress): void {
    this.#progress = progress;
  }

  addLog(line: string): void {
    this.#logs.push(line);
    if (this.#logs.length > LOG_LENGTH) this.#logs.shift();
  }

  get hasUpdates(): boolean {
    return this.#progress !== null || this.#logs.length > 0;
  }

  /** What is to be written with the next renewal or settle. */
  takeUpdates(): Updates | undefined {
    if (!this.hasUpdates) return undefined;
    const updates: Updates = {
      ...(this.#progress && { progress: this.#progress }),
      ...(this.#logs.length > 0 && { logs: this.#logs }),
    };
    this.#progress = null;
    this.#logs = [];
    return updates;
  }

  /** The call that carried them failed: they go again, older than what came since. */
  giveBackUpdates(updates: Updates): void {
    this.#progress ??= updates.progress ?? null;
    this.#logs = [...(updates.logs ?? []), ...this.#logs].slice(-LOG_LENGTH);
  }
}
