/**
 * Time that moves only when told. Everything the engine does through its `Runtime` (timers, deferred
 * calls, chance, ids) happens here, one event after another, in an order that one seed decides.
 *
 * A step runs one event (a deferred call, or the next timer once its time has come) and then lets
 * promises settle. Deferred calls come before timers: they are work already under way.
 */
import { uuidV7 } from "../core/uuid.ts";
import { LONGEST_TIMER_MS, type Runtime, type Timer } from "../engine/runtime.ts";
import { Heap, type HeapItem } from "../stores/memory/heap.ts";
import { randomBytesFrom, seededRandom, type Random } from "./seeded-random.ts";

/** 2030-01-01: any day will do, as long as it is the same one every time. */
const FIRST_DAY = Date.UTC(2030, 0, 1);

interface Pending extends HeapItem {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
  isWaiting: boolean;
}

export class VirtualTime {
  readonly random: Random;
  #now = 0;
  #order = 0;
  readonly #timers = new Heap<Pending>((a, b) =>
    a.dueAt !== b.dueAt ? a.dueAt < b.dueAt : a.order < b.order,
  );
  readonly #deferred: (() => void)[] = [];
  #underWay: Promise<unknown>[] = [];
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
    const next = this.#timers.peek();
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
    const dueAt = this.#now + cutMs;
    const pending = { dueAt, order: (this.#order += 1), callback, isWaiting: true, slot: 0 };
    this.#timers.push(pending);
    return {
      cancel: () => {
        if (pending.isWaiting) this.#timers.remove(pending);
        pending.isWaiting = false;
      },
    };
  }

  /**
   * The step that runs now is not over before this has settled, however often the real event loop
   * turns meanwhile: a call into a store that does real work is one moment here.
   */
  during(promise: Promise<unknown>): void {
    this.#underWay.push(promise);
  }

  /** Runs one event that is due; false if there was none. Promises have settled afterwards. */
  async step(): Promise<boolean> {
    const callback = this.#deferred.shift() ?? this.#dueTimer();
    callback?.();
    await settlePromises();
    while (this.#underWay.length > 0) {
      const underWay = this.#underWay;
      this.#underWay = [];
      await Promise.allSettled(underWay);
      await settlePromises();
    }
    return callback !== undefined;
  }

  /** Moves time on to the next timer, if it is not due already; false if there is none. */
  moveToNextTimer(): boolean {
    const next = this.#timers.peek();
    if (!next) return false;
    this.#now = Math.max(this.#now, next.dueAt);
    return true;
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
    for (let next = this.#timers.peek(); next && next.dueAt <= until;) {
      this.#now = Math.max(this.#now, next.dueAt);
      await this.settle();
      next = this.#timers.peek();
    }
    this.#now = until;
    await this.settle();
  }

  /** Time passes and nobody notices: timers that came due fire late. As after a frozen process. */
  leap(ms: number): void {
    this.#now += ms;
  }

  #dueTimer(): (() => void) | undefined {
    const next = this.#timers.peek();
    if (!next || next.dueAt > this.#now) return undefined;
    this.#timers.remove(next);
    next.isWaiting = false;
    return next.callback;
  }
}

/** After this every promise that could settle without an event has settled. */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
