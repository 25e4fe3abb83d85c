/**
 * A small world for the rules: one store on virtual time, and as many Holdfast processes on it as a
 * rule needs, each of which can be killed. Timers are virtual; store calls are real.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Holdfast,
  type HoldfastOptions,
  type Logger,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import type { Resilience } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { settlePromises, VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";

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
}

export const STORES = ["memory", "sqlite"] as const;
export type StoreName = (typeof STORES)[number];

export async function openWorld(name: StoreName): Promise<World> {
  const time = new VirtualTime();
  let skewMs = 0;
  const now = () => time.now + skewMs;
  const folder = name === "sqlite" ? await mkdtemp(join(tmpdir(), "holdfast-rules-")) : null;
  const shared = memoryStore({ now });
  const sqlite = folder ? await import("../../packages/holdfast/src/stores/sqlite/index.ts") : null;
  const openStore = () =>
    folder && sqlite
      ? sqlite.sqliteStore({ file: join(folder, "jobs.db"), now, synchronous: "normal" })
      : shared;
  const store = openStore();
  await store.open();
  const living = new Set<Holdfast>();
  const calls = { onTheirWay: 0 };

  return {
    time,
    store,
    process({ link = (plain: Store) => plain, ...options }: ProcessOptions = {}) {
      let alive = true;
      const own = folder ? openStore() : { ...shared, close: async () => {} };
      const said: string[] = [];
      const runtime = {
        ...time.runtime({ alive: () => alive }),
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
          if (folder) void own.close();
        },
      };
    },
    jumpStoreClock(ms) {
      skewMs += ms;
    },
    async advance(ms) {
      for (let left = ms; left > 0; left -= 50) {
        await time.advance(Math.min(50, left));
        // Store calls take real time: virtual time must not run away from them.
        for (let quiet = 0; quiet < 4; quiet = calls.onTheirWay > 0 ? 0 : quiet + 1) {
          await settlePromises();
        }
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
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A dead process gets no reply and makes no call. */
function dyingWith(store: Store, alive: () => boolean, calls: { onTheirWay: number }): Store {
  const never = new Promise<never>(() => {});
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
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
