/**
 * Time that moves only when told. Everything the engine does through its `Runtime` (timers, deferred
 * calls, chance, ids) happens here, one event after another, in an order that one seed decides.
 *
 * A step runs one event (a deferred call, or the next timer once its time has come) and then lets
 * promises settle. Deferred calls come before timers: they are work already under way.
 */
import { uuidV7 } from "../core/uuid.ts";
import { LONGEST_TIMER_MS, type Runtime, type Timer } from "../engine/runtime.ts";
import { randomBytesFrom, seededRandom, type Random } from "./seeded-random.ts";

/** 2030-01-01: any day will do, as long as it is the same one every time. */
const FIRST_DAY = Date.UTC(2030, 0, 1);

interface Pending {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

export class VirtualTime {
  readonly random: Random;
  #now = 0;
  #order = 0;
  #timers: Pending[] = [];
  readonly #deferred: (() => void)[] = [];
  #workers = 0;

  constructor(options: { readonly seed?: number } = {}) {
    this.random = seededRandom(options.seed ?? 1);
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return FIRST_DAY + this.#now;
  }

  /** Milliseconds until the next timer; null if there is none. */
  get nextTimerInMs(): number | null {
    const next = this.#timers[0];
    return next ? Math.max(0, next.dueAt - this.#now) : null;
  }

  get hasDeferred(): boolean {
    return this.#deferred.length > 0;
  }

  /** A runtime on this time; `alive` lets a simulated process die with all its timers. */
  runtime(options: { readonly alive?: () => boolean } = {}): Runtime {
    const alive = options.alive ?? (() => true);
    const guarded = (callback: () => void) => () => {
      if (alive()) callback();
    };
    return {
      monotonic: () => this.#now,
      wallClock: () => this.now,
      timer: (ms, callback) => this.timer(ms, guarded(callback)),
      defer: (callback) => void this.#deferred.push(guarded(callback)),
      random: () => this.random(),
      id: () => uuidV7(this.now, randomBytesFrom(this.random, 10)),
      workerId: () => `virtual:${(this.#workers += 1)}`,
    };
  }

  timer(ms: number, callback: () => void): Timer {
    const cutMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
    const pending = { dueAt: this.#now + cutMs, order: (this.#order += 1), callback };
    const at = this.#timers.findLastIndex((other) => other.dueAt <= pending.dueAt);
    this.#timers.splice(at + 1, 0, pending);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== pending);
      },
    };
  }

  /** Runs one event that is due; false if there was none. Promises have settled afterwards. */
  async step(): Promise<boolean> {
    const callback = this.#deferred.shift() ?? this.#dueTimer();
    callback?.();
    await settlePromises();
    return callback !== undefined;
  }

  /** Runs everything due now, and what that sets off. */
  async settle(): Promise<void> {
    await settlePromises();
    while (await this.step());
  }

  /** Moves time on, running each timer at its own moment. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.settle();
    for (let next = this.#timers[0]; next && next.dueAt <= until; next = this.#timers[0]) {
      this.#now = Math.max(this.#now, next.dueAt);
      await this.settle();
    }
    this.#now = until;
    await this.settle();
  }

  #dueTimer(): (() => void) | undefined {
    const next = this.#timers[0];
    if (!next || next.dueAt > this.#now) return undefined;
    this.#timers.shift();
    return next.callback;
  }
}

/** After this every promise that could settle without an event has settled. */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
