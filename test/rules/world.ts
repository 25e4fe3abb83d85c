/**
 * A small world for the rules: one store on virtual time, and as many Holdfast processes on it as a
 * rule needs, each of which can be killed. Timers are virtual; store calls are real.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  Holdfast,
  type HoldfastOptions,
  type Logger,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import type { Resilience } from "../../packages/holdfast/src/index.ts";
import { settlePromises, VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";
import { inTier } from "../runner/tier.ts";
import { PLACES } from "./places.ts";

export interface Process {
  readonly hf: Holdfast;
  /** What it said to people. */
  readonly said: string[];
  /** As kill -9 would: none of its timers, calls or replies ever happens again. */
  kill(): void;
}

export interface World {
  readonly time: VirtualTime;
  /** The data itself, past all processes. */
  readonly store: Store;
  process(options?: ProcessOptions): Process;
  /** Moves time on, giving store calls the turns they need. */
  advance(ms: number): Promise<void>;
  /** Turns the event loop until it is so; time stands still. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** The clock of the store's host jumps, forwards or back. */
  jumpStoreClock(ms: number): void;
  close(): Promise<void>;
}

export interface ProcessOptions extends Partial<
  Omit<HoldfastOptions, "store" | "runtime" | "resilient">
> {
  readonly resilient?: Resilience;
  /** Stands between this process and the store. */
  readonly link?: (store: Store) => Store;
  /** The clock of this process's own host, ahead of the others'. */
  readonly wallSkewMs?: number;
}

export type StoreName = keyof typeof PLACES;

/** Where a rule of the engine is asked: the seam's half of it is asked of every store by its suite. */
export const STORES = ["memory", "sqlite"] as const satisfies readonly StoreName[];

/** Where a feature of control is asked, which stands on records, entries and holds of the store. */
export const EVERY_STORE: readonly StoreName[] = inTier<readonly StoreName[]>({
  daily: STORES,
  full: [...STORES, "postgres", "redis", "mongodb"],
});

export async function openWorld(name: StoreName): Promise<World> {
  const time = new VirtualTime();
  let skewMs = 0;
  const now = () => time.now + skewMs;
  const place = await PLACES[name](now);
  const store = place.open();
  /** Its calls take so long that they must be over before the next timer. */
  const isFar = place.hintMs > 0;
  await store.open();
  const living = new Set<Holdfast>();
  const calls = { onTheirWay: 0 };

  return {
    time,
    store,
    process({ link = (plain: Store) => plain, wallSkewMs = 0, ...options }: ProcessOptions = {}) {
      let alive = true;
      const own = place.open();
      const said: string[] = [];
      const runtime = {
        ...time.runtime({ alive: () => alive }),
        wallClock: () => time.now + wallSkewMs,
        defer: (callback: () => void) => void setImmediate(() => alive && callback()),
      };
      const mortal = dyingWith(link(own), () => alive, calls);
      const logger = options.logger ?? noting(said);
      const hf = new Holdfast<readonly [], Resilience | undefined>({
        ...(options as object),
        ...{ logger, store: mortal, runtime },
      }) as unknown as Holdfast;
      living.add(hf);
      return {
        hf,
        said,
        kill() {
          alive = false;
          living.delete(hf);
          void own.close();
        },
      };
    },
    jumpStoreClock(ms) {
      skewMs += ms;
    },
    async advance(ms) {
      // What was asked behind a call that has returned is asked of this moment, and not of a later one.
      if (calls.onTheirWay > 0) await settleCalls();
      for (let left = ms; left > 0;) {
        const stepMs = Math.min(left, isFar ? (time.nextTimerInMs ?? left) : 50);
        left -= stepMs;
        await place.setClock?.(now() + stepMs);
        await time.advance(stepMs);
        await settleCalls();
      }
    },
    async until(condition) {
      for (let turns = 0; turns < 5_000; turns += 1) {
        if (await condition()) return;
        await time.settle();
      }
      throw new Error("it did not become so in 5,000 turns of the event loop");
    },
    async close() {
      const closing = Promise.all([...living].map((hf) => hf.close({ graceMs: 0 })));
      const closed = closing.then(() => true);
      while (!(await Promise.race([closed, time.advance(1_000).then(() => false)])));
      await store.close();
      await place.dispose();
    },
  };

  /** Store calls take real time: virtual time must not run away from them. */
  async function settleCalls(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet = calls.onTheirWay > 0 ? 0 : quiet + 1) {
      await settlePromises();
      if (quiet === 3 && isFar) await sleep(place.hintMs);
    }
  }
}

/** A dead process gets no reply and makes no call. */
function dyingWith<T extends object>(
  store: T,
  alive: () => boolean,
  calls: { onTheirWay: number },
): T {
  const never = new Promise<never>(() => {});
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      // The records and the ledger are objects of the store with calls of their own.
      if (typeof member === "object" && member !== null) return dyingWith(member, alive, calls);
      if (typeof member !== "function" || name === "info" || name === "onWakeup") return member;
      return (...args: unknown[]) => {
        if (!alive()) return never;
        const reply: unknown = Reflect.apply(member, target, args);
        if (!(reply instanceof Promise)) return reply;
        calls.onTheirWay += 1;
        return reply
          .finally(() => {
            calls.onTheirWay -= 1;
          })
          .then(
            (value: unknown) => (alive() ? value : never),
            (error: unknown) => (alive() ? Promise.reject(error) : never),
          );
      };
    },
  });
}

function noting(said: string[]): Logger {
  const note = (message: string) => void said.push(message);
  return { debug() {}, info: note, warn: note, error: note };
}

/** Something to wait for from outside a handler. */
export function signal(): { readonly reached: Promise<void>; reach(): void; isReached(): boolean } {
  let reached = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    reached: promise,
    reach() {
      reached = true;
      resolve();
    },
    isReached: () => reached,
  };
}
