/**
 * Jobs that are one crash away from poison. If one of them kills this process, every other one it
 * holds at that moment gets its last crash too, although it did nothing. So a worker holds one at a
 * time while it can help it:
 *
 *   leased ──others handed back, and the store has heard──▶ running ──ten seconds──▶ trusted
 *
 * Until it is trusted the worker leases nothing, since a lease may bring another. A job that kills
 * its worker does so soon; one that lives longer must not keep the worker from its work for hours.
 * Later arrivals are handed back at once. A first crash costs nobody anything.
 */
import type { Attempt } from "../run/attempt.ts";
import type { Runtime, Timer } from "../runtime.ts";

const TRUSTED_AFTER_MS = 10_000;

export interface SuspectsOptions {
  readonly runtime: Runtime;
  readonly start: (suspect: Attempt) => void;
  /** Hands one back; `done` when the store has answered. */
  readonly handBack: (suspect: Attempt, done: () => void) => void;
  /** Leasing may go on. */
  readonly resume: () => void;
}

export class Suspects {
  readonly #options: SuspectsOptions;
  #current: Attempt | null = null;
  #leaving = 0;
  #isRunning = false;
  #trustTimer: Timer | null = null;

  constructor(options: SuspectsOptions) {
    this.#options = options;
  }

  /** Must the worker lease nothing now? */
  get keepQuiet(): boolean {
    return this.#current !== null && !(this.#isRunning && this.#trustTimer === null);
  }

  /** One was leased. It runs here once no other is held, or it is handed back. */
  take(suspect: Attempt, options: { readonly hasSlot: boolean }): void {
    if (this.#current === null && options.hasSlot) {
      this.#current = suspect;
      suspect.onAbort = () => this.#forget(suspect);
      return;
    }
    this.#leaving += 1;
    // It is on its way back: a cancel or a lost lease that comes now changes nothing for it.
    suspect.onAbort = null;
    this.#options.handBack(suspect, () => {
      this.#leaving -= 1;
      this.startIfAlone();
    });
  }

  /** After everything one lease call brought has been taken. */
  startIfAlone(): void {
    const suspect = this.#current;
    if (suspect === null || this.#isRunning || this.#leaving > 0) return;
    this.#isRunning = true;
    this.#trustTimer = this.#options.runtime.timer(TRUSTED_AFTER_MS, () => {
      this.#trustTimer = null;
      this.#options.resume();
    });
    this.#options.start(suspect);
  }

  /** A job ended; if it was the suspect, the worker may lease again. */
  ended(attempt: Attempt): void {
    if (attempt !== this.#current) return;
    this.#trustTimer?.cancel();
    this.#trustTimer = null;
    this.#current = null;
    this.#isRunning = false;
    this.#options.resume();
  }

  close(): void {
    this.#trustTimer?.cancel();
    const suspect = this.#current;
    if (suspect !== null && !this.#isRunning) this.#forget(suspect);
  }

  /** It never started: its lease ran out while the others left, or the worker stops. */
  #forget(suspect: Attempt): void {
    suspect.onAbort = null;
    this.#options.handBack(suspect, () => {});
    this.ended(suspect);
  }
}
