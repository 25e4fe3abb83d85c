/**
 * Leases in doubt: a reply got lost, and what it leased is not known here. Until the store has taken back what this
 * worker does not know of, it leases nothing from those queues, for nothing says how much it has of them already.
 *
 *   reply lost ──▶ in doubt ──disowned──▶ free
 *                     └──no answer──▶ asked again, later each time
 *
 * A lease that nobody answered may still be on its way, and reach the store behind the words that disowned it. So they
 * are said once more a little later, beside whatever is leased by then: what has come so late goes back as well, and
 * does not stand there until its lease runs out.
 *
 * Each doubt is of one name that the worker had, and is asked about by itself: of a store of several servers one may
 * be out of reach for hours, and the queues of the others do not wait for it. There each queue is a doubt of its own.
 */
import type { LeaseRef } from "../../core/store.ts";
import type { Logger } from "../logger.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";
import { waitAtMost, type Runtime, type Timer } from "../runtime.ts";
import type { WatchedStore } from "../watched-store.ts";

/** How long a stop waits for what must still be disowned. */
const LAST_WORDS_MS = 5_000;
/** By then what was on its way has arrived, or never will: a connection that comes back delivers it at once. */
const ONCE_MORE_MS = 2_000;
/** Failures until it is said: a second or so. */
const SAID_AFTER = 5;

export interface DoubtsOptions {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly heldUnder: (worker: string) => LeaseRef[];
  /** Some queues may be leased from again. */
  readonly onFreed: () => void;
}

interface Doubt {
  readonly worker: string;
  readonly queues: readonly string[];
  failures: number;
  /** Null: it is being asked about. */
  timer: Timer | null;
}

export class Doubts {
  readonly #options: DoubtsOptions;
  readonly #open = new Set<Doubt>();
  readonly #queues = new Set<string>();
  /** Until what was disowned is disowned once more. */
  readonly #onceMore = new Set<Timer>();
  #isClosing = false;
  #isSaid = false;
  #allFreed: (() => void) | null = null;

  constructor(options: DoubtsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  has(queue: string): boolean {
    return this.#queues.has(queue);
  }

  /**
   * The worker never leases under this name again. `inARow`: so many replies have been lost now. The more, the later
   * it is disowned, or leasing, losing and disowning would follow each other without a pause.
   */
  add(worker: string, queues: readonly string[], inARow: number): void {
    const { hasSeveralServers } = this.#options.watched;
    const parts = hasSeveralServers ? queues.map((queue) => [queue]) : [queues];
    for (const part of parts) {
      const doubt: Doubt = { worker, queues: part, failures: inARow, timer: null };
      this.#open.add(doubt);
      for (const queue of part) this.#queues.add(queue);
      this.#askLater(doubt);
    }
  }

  /** What is not disowned now would be charged as crashed once its lease runs out. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#onceMore) timer.cancel();
    this.#onceMore.clear();
    if (this.isEmpty) return;
    const allFreed = new Promise<void>((resolve) => (this.#allFreed = resolve));
    for (const doubt of this.#open) this.#askNow(doubt);
    await waitAtMost(this.#options.runtime, allFreed, LAST_WORDS_MS);
    for (const doubt of [...this.#open]) this.#end(doubt);
  }

  #askLater(doubt: Doubt): void {
    const { runtime } = this.#options;
    const waitMs = retryDelayMs(doubt.failures, runtime.random());
    doubt.timer = runtime.timer(waitMs, () => this.#askNow(doubt));
  }

  #askNow(doubt: Doubt): void {
    // It is on its way.
    if (doubt.timer === null) return;
    doubt.timer.cancel();
    doubt.timer = null;
    void this.#ask(doubt);
  }

  async #ask(doubt: Doubt): Promise<void> {
    try {
      await this.#disown(doubt);
    } catch (error) {
      // It was given up meanwhile.
      if (!this.#open.has(doubt)) return;
      doubt.failures += 1;
      this.#say(doubt, error);
      // A stop goes on whatever the store says.
      if (!this.#isClosing || isRetryable(error)) return this.#askLater(doubt);
    }
    this.#end(doubt);
    this.#disownOnceMore(doubt);
    this.#options.onFreed();
  }

  async #disown({ worker, queues }: Doubt): Promise<void> {
    const { watched, heldUnder, logger } = this.#options;
    const count = await watched.store.disown({ worker, queues, except: heldUnder(worker) });
    if (count === 0) return;
    logger.info(`${count} jobs whose lease was not heard of went back, uncharged`, { worker });
  }

  /** If this fails, what has come late stands there until its lease runs out, and is charged nothing then. */
  #disownOnceMore(doubt: Doubt): void {
    if (this.#isClosing) return;
    const timer = this.#options.runtime.timer(ONCE_MORE_MS, () => {
      this.#onceMore.delete(timer);
      this.#disown(doubt).catch(() => {});
    });
    this.#onceMore.add(timer);
  }

  #end(doubt: Doubt): void {
    doubt.timer?.cancel();
    if (!this.#open.delete(doubt)) return;
    for (const queue of doubt.queues) this.#queues.delete(queue);
    if (!this.isEmpty) return;
    this.#isSaid = false;
    this.#allFreed?.();
  }

  /** Once, until nothing is in doubt. */
  #say({ queues: [queue], failures }: Doubt, error: unknown): void {
    if (this.#isSaid || (isRetryable(error) && failures < SAID_AFTER)) return;
    this.#isSaid = true;
    const level = isRetryable(error) ? "warn" : "error";
    this.#options.logger[level](
      `what was leased in a reply that got lost cannot be handed back yet; nothing more is leased from queue "${queue}" and others in that place until it can`,
      { error },
    );
  }
}
