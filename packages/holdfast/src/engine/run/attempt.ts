/**
 * One leased job in this process, from the lease to its end:
 *
 *   waiting ──start──▶ running ──decide──▶ decided ──settled──▶ over
 *      │                  │                                       ▲
 *      └──────────── lease lost, or handed back ──────────────────┘
 *
 * Time alone ends trust: past `leaseEndsAt` (send time of the last acknowledged lease or renew, plus
 * the lease, less a margin, on this process's own monotonic clock) another worker may have the job.
 * An attempt that is not decided by then is lost: its signal aborts and nothing it says is sent. One
 * that was decided before is sent until the store answers; the fence lets a late one change nothing.
 */
import { LeaseLostError, type HoldfastError } from "../../core/errors.ts";
import { LOG_LENGTH, type NewJob, type Progress } from "../../core/job.ts";
import type { LeaseRef, LeasedJob, Renewal, Updates, WithinTransaction } from "../../core/store.ts";

export type AttemptPhase = "waiting" | "running" | "decided" | "over";

export class Attempt {
  readonly job: LeasedJob;
  readonly worker: string;
  leaseEndsAt: number;
  phase: AttemptPhase = "waiting";
  /** Why the signal aborted, once it has. */
  abortReason: HoldfastError | null = null;
  /** Called once, when the signal aborts. */
  onAbort: ((reason: HoldfastError) => void) | null = null;
  /** Called once, when it is over: settled, or lost. */
  onOver: (() => void) | null = null;
  /** Stored with the success. */
  readonly spawned: NewJob[] = [];
  spawnedBytes = 0;
  /** A caller's transaction this handler writes through, which keeps every other writer waiting. */
  blockedBy: WithinTransaction | null = null;
  /** Settled inside this transaction: whether it happened is the database's to say. */
  settledWithin: WithinTransaction | null = null;
  #controller: AbortController | null = null;
  #updatesOrder = 0;
  readonly #waiters = new Set<(reason: HoldfastError) => void>();
  #progress: Progress | null = null;
  #logs: string[] = [];

  constructor(job: LeasedJob, options: { readonly worker: string; readonly leaseEndsAt: number }) {
    this.job = job;
    this.worker = options.worker;
    this.leaseEndsAt = options.leaseEndsAt;
  }

  /** Made when first asked for: most handlers never look at it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.abortReason) this.#controller.abort(this.abortReason);
    }
    return this.#controller.signal;
  }

  get isLost(): boolean {
    return this.abortReason instanceof LeaseLostError;
  }

  get ref(): LeaseRef {
    const { id, queue, handle, fence } = this.job;
    return { id, queue, handle, fence };
  }

  /** A renewal that carries something; one that is sent later counts as later, however it arrives. */
  renewalWith(updates: Updates): Renewal {
    this.#updatesOrder += 1;
    return { ...this.ref, updates, order: this.#updatesOrder };
  }

  /** The first reason counts, but a lost lease overrules any other: nothing may be sent after it. */
  abort(reason: HoldfastError): void {
    if (this.phase === "over" || this.isLost) return;
    const isFirst = this.abortReason === null;
    if (!isFirst && !(reason instanceof LeaseLostError)) return;
    this.abortReason = reason;
    this.#controller?.abort(reason);
    if (this.isLost) for (const reject of this.#waiters) reject(reason);
    this.onAbort?.(reason);
  }

  /** What it says, or a rejection as soon as the lease is lost: nobody waits for a store that is away. */
  orLost<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiters.add(reject);
      const over = (): void => void this.#waiters.delete(reject);
      answer.then(resolve, reject).then(over, over);
    });
  }

  end(): void {
    this.phase = "over";
    this.onOver?.();
    this.onOver = null;
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

  /** What is to be written with the next renew or settle. */
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

  /** The call that carried them failed: they ride again, older than what came since. */
  giveBackUpdates(updates: Updates): void {
    this.#progress ??= updates.progress ?? null;
    this.#logs = [...(updates.logs ?? []), ...this.#logs].slice(-LOG_LENGTH);
  }
}
