/**
 * The only door to the clock, timers, chance and ids. Everything in the engine that waits, measures
 * or draws does it through here, so the whole system runs on virtual time from one seed.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { UUID_RANDOM_BYTES, uuidV7 } from "../core/uuid.ts";

export interface Timer {
  cancel(): void;
}

export interface Runtime {
  /** Milliseconds that only grow; for measuring durations. Its zero means nothing. */
  monotonic(): number;
  /** Milliseconds since the epoch by this host's clock; for ids and for people, never for decisions. */
  wallClock(): number;
  /**
   * Calls back once. Longer waits than {@link LONGEST_TIMER_MS} are cut: the caller looks again. One in the
   * background does not keep the process alive.
   */
  timer(ms: number, callback: () => void, options?: { readonly background?: boolean }): Timer;
  /** Calls back soon, after what is already on its way has arrived: where batches gather. */
  defer(callback: () => void): void;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** A new UUIDv7. */
  id(): string;
  /** A new worker's name: host, process and chance, so that no two are ever equal. */
  workerId(): string;
  /** How this process is doing. Absent where there is no process to speak of. */
  load?(): ProcessLoad;
}

export interface ProcessLoad {
  /** By how much the event loop was late at most, since this was asked last. */
  readonly loopDelayMs: number;
  /** What the process has in memory, all in all. */
  readonly memoryBytes: number;
}

/** `setTimeout` fires at once beyond 2^31 ms; a minute is long enough to look again. */
export const LONGEST_TIMER_MS = 60_000;

/** For how many ids chance is drawn at once: one draw each cost 5 % of an enqueue. */
const DRAWN_AHEAD = 400;

/** How often the loop's delay is looked at: an idle process should hardly notice. */
const LOOP_LOOK_MS = 100;

/** Node's own monitor passes over what comes right after a reset, so that blocks went unseen. */
function processLoad(): () => ProcessLoad {
  let lookedAt = performance.now();
  let worstMs = 0;
  const look = () => {
    const now = performance.now();
    worstMs = Math.max(worstMs, now - lookedAt - LOOP_LOOK_MS);
    lookedAt = now;
  };
  setInterval(look, LOOP_LOOK_MS).unref();
  return () => {
    look();
    const loopDelayMs = Math.round(worstMs);
    worstMs = 0;
    return { loopDelayMs, memoryBytes: process.memoryUsage.rss() };
  };
}

export function systemRuntime(): Runtime {
  let load: (() => ProcessLoad) | null = null;
  let drawn = new Uint8Array(0);
  let taken = 0;
  const nextId = () => {
    if (taken === drawn.length) {
      drawn = randomBytes(UUID_RANDOM_BYTES * DRAWN_AHEAD);
      taken = 0;
    }
    const start = taken;
    taken += UUID_RANDOM_BYTES;
    return uuidV7(Date.now(), drawn, start);
  };
  return {
    monotonic: () => performance.now(),
    wallClock: () => Date.now(),
    timer(ms, callback, options) {
      const handle = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
      if (options?.background) handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
    defer: (callback) => void setImmediate(callback),
    random: () => Math.random(),
    id: nextId,
    workerId: () => `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`,
    // Made when it is first asked for: only processes that work are.
    load: () => (load ??= processLoad())(),
  };
}

/** A timer of any length, by looking again. */
export function longTimer(runtime: Runtime, ms: number, callback: () => void): Timer {
  const dueAt = runtime.monotonic() + ms;
  const look = () => {
    const leftMs = dueAt - runtime.monotonic();
    if (leftMs <= 0) callback();
    else timer = runtime.timer(leftMs, look);
  };
  let timer = runtime.timer(ms, look);
  return { cancel: () => timer.cancel() };
}

export function sleep(runtime: Runtime, ms: number): Promise<void> {
  return new Promise((resolve) => longTimer(runtime, ms, resolve));
}

/** Resolves with the promise or after `ms`, whichever is first, and leaves no timer behind. */
export async function waitAtMost(
  runtime: Runtime,
  promise: Promise<unknown>,
  ms: number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = longTimer(runtime, ms, resolve);
    void promise.finally(() => {
      timer.cancel();
      resolve();
    });
  });
}
