/**
 * Jobs that are one crash away from poison. If several of them ran when this process dies, each would get
 * its last crash, although one at most is the culprit. So they run one at a time, in one slot beside the
 * worker's other jobs:
 *
 *   leased ──▶ waiting ──the one before has ended, or lived for ten seconds──▶ running
 *                 └──a second went by, or too many wait──▶ handed back
 *
 * Those that wait are safe: the store charges a job that crashed before only once its holder has said
 * that it starts. A job that kills its worker does so soon; one that lives longer must not keep the
 * others waiting for hours. A first crash costs the other jobs nothing.
 *
 * If a whole queue is under suspicion, most of what a lease brings is handed back. Each time for longer,
 * so that the worker's other slots get to the jobs behind them.
 */
import type { Attempt } from "../run/attempt.ts";
import type { Runtime, Timer } from "../runtime.ts";

const TRUSTED_AFTER_MS = 10_000;
/** So many wait for the slot; quick ones follow each other without a lease in between. */
const MOST_WAITING = 10;
const LONGEST_WAIT_MS = 1_000;
const SHORTEST_BACK_MS = 1_000;
const LONGEST_BACK_MS = 60_000;

export interface QuarantineOptions {
  readonly runtime: Runtime;
  readonly hasSlot: () => boolean;
  readonly start: (suspect: Attempt) => void;
  readonly handBack: (suspect: Attempt, why: string, afterMs: number) => void;
}

export class Quarantine {
  readonly #options: QuarantineOptions;
  readonly #waiting: Attempt[] = [];
  #running: Attempt | null = null;
  #trustTimer: Timer | null = null;
  #waitTimer: Timer | null = null;
  #backMs = SHORTEST_BACK_MS;
  #isBackedOff = false;

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** One was leased: it waits here, or is handed back at once. */
  take(suspect: Attempt): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#isBackedOff = true;
      this.#giveBack(suspect, "too many jobs that may kill their worker are here", this.#backMs);
      return;
    }
    this.#waiting.push(suspect);
    suspect.whenAborted(() => this.#leave(suspect, "its lease ran out before it started", 0));
    this.#waitTimer ??= this.#handBackLater();
  }

  /** After everything one lease call brought has been taken. */
  taken(): void {
    // Longer for each lease that brought too many, as long as any does.
    if (this.#isBackedOff) this.#backMs = Math.min(2 * this.#backMs, LONGEST_BACK_MS);
    else if (this.#waiting.length === 0) this.#backMs = SHORTEST_BACK_MS;
    this.#isBackedOff = false;
    this.startNext();
  }

  startNext(): void {
    if (this.#running !== null || !this.#options.hasSlot()) return;
    const suspect = this.#waiting.shift();
    if (suspect === undefined) return;
    this.#running = suspect;
    this.#trustTimer = this.#options.runtime.timer(TRUSTED_AFTER_MS, () => this.#free(suspect));
    // Until the store has its outcome it is still in our hands, and a crash would still be its own.
    suspect.whenOver(() => this.#free(suspect));
    this.#options.start(suspect);
  }

  close(): void {
    for (const timer of [this.#trustTimer, this.#waitTimer]) timer?.cancel();
    this.#trustTimer = this.#waitTimer = null;
    for (const suspect of [...this.#waiting]) this.#leave(suspect, "the worker stopped", 0);
  }

  #free(suspect: Attempt): void {
    if (this.#running !== suspect) return;
    this.#trustTimer?.cancel();
    this.#trustTimer = null;
    this.#running = null;
    this.startNext();
  }

  #handBackLater(): Timer {
    const waiting = new Set(this.#waiting);
    return this.#options.runtime.timer(LONGEST_WAIT_MS, () => {
      this.#waitTimer = null;
      for (const suspect of this.#waiting.filter((one) => waiting.has(one))) {
        this.#leave(suspect, "another job that may kill its worker runs here", this.#backMs);
      }
      if (this.#waiting.length > 0) this.#waitTimer = this.#handBackLater();
    });
  }

  #leave(suspect: Attempt, why: string, afterMs: number): void {
    const at = this.#waiting.indexOf(suspect);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.#giveBack(suspect, why, afterMs);
  }

  /** With chance in it: what is handed back together should not come back together. */
  #giveBack(suspect: Attempt, why: string, afterMs: number): void {
    const spreadMs = Math.round(afterMs * (0.5 + this.#options.runtime.random()));
    this.#options.handBack(suspect, why, spreadMs);
  }
}
