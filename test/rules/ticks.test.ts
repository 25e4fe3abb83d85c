/**
 * At most once per fleet, and at least once within the policy: random fleets whose processes are killed, frozen,
 * cut off from the store and deceived by their clocks, on virtual time.
 */
import { describe, expect, it } from "vitest";
import { StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";
import { seededRandom, type Random } from "../../packages/holdfast/src/testing/seeded-random.ts";
import { inTier } from "../runner/tier.ts";
import { openWorld, STORES, type Process, type World } from "./world.ts";

const EVERY_MS = 10_000;
const SEEDS = inTier({ daily: 3, full: 40 });
const ROUNDS = 25;

interface Weather {
  random: Random;
  /** Share of calls that fail before or after they are done, or take a frozen while. */
  trouble: number;
  isStoreAway: boolean;
}

describe.each(STORES)("ticks on %s", { timeout: 300_000 }, (name) => {
  it("a tick makes one job at most, and one at least within the policy, whatever befalls the fleet", async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      for (const missed of ["all", "once"] as const) {
        await storm({ name, seed, missed });
      }
    }
  });
});

describe("planted bugs", () => {
  it("a tick by a local clock is caught", async () => {
    const planted = storm({ name: "memory", seed: 1, missed: "all", isLocal: true });
    await expect(planted).rejects.toThrow(/all, seed 1/);
  });
});

async function storm(about: {
  readonly name: (typeof STORES)[number];
  readonly seed: number;
  readonly missed: "all" | "once";
  /** Planted: what is due is judged by the clock of the process's own host. */
  readonly isLocal?: boolean;
}): Promise<void> {
  const { name, seed, missed, isLocal = false } = about;
  const world = await openWorld(name);
  const random = seededRandom(seed * 7 + (missed === "all" ? 1 : 0));
  const weather: Weather = { random, trouble: 0.05, isStoreAway: false };
  const fleet: Process[] = [];
  const start = async () => {
    const wallSkewMs = Math.round((random() - 0.5) * 2 * 3_600_000);
    const process = world.process({
      link: (store) => troubled(isLocal ? byLocalClock(store, wallSkewMs) : store, world, weather),
      wallSkewMs,
    });
    fleet.push(process);
    process.hf.handle("work", () => {});
    process.hf.schedule("each", {
      ...{ cron: "*/10 * * * * *", overlap: "queue", missed },
      job: { type: "work", payload: null },
    });
    // The store may be away: then it begins once it is back.
    void process.hf.work().catch(() => {});
    await world.advance(50);
  };
  await start();
  for (let round = 0; round < ROUNDS; round += 1) {
    const drawn = random();
    if (drawn < 0.25 && fleet.length < 4) await start();
    else if (drawn < 0.5 && fleet.length > 0) {
      fleet.splice(Math.floor(random() * fleet.length), 1)[0]!.kill();
    } else if (drawn < 0.6) weather.isStoreAway = !weather.isStoreAway;
    else if (drawn < 0.7) world.time.leap(random() * 40_000);
    await world.advance(random() * 15_000);
  }
  weather.trouble = 0;
  weather.isStoreAway = false;
  await start();
  await world.advance(90_000);
  try {
    await judge(world, `${missed}, seed ${seed}`, missed);
  } finally {
    await world.close();
  }
}

async function judge(world: World, what: string, missed: "all" | "once"): Promise<void> {
  const due = await dueTimes(world);
  const jobs: { readonly tick: number; readonly createdAt: number }[] = [];
  let cursor: string | null = null;
  do {
    const page = await world.store.find({ type: "work" }, { limit: 200, cursor, order: "oldest" });
    for (const { meta, createdAt } of page.jobs) {
      const { tick } = JSON.parse(meta ?? "{}") as { tick: string };
      jobs.push({ tick: Date.parse(tick), createdAt });
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  const fired = jobs.map(({ tick }) => tick).sort((a, b) => a - b);
  expect(new Set(fired).size, `${what}: a tick has one job`).toBe(fired.length);
  for (const { tick, createdAt } of jobs) expect(createdAt, what).toBeGreaterThanOrEqual(tick);
  expect(fired.length, what).toBeGreaterThan(8);
  const recorded = [...due.keys()].sort((a, b) => a - b);
  const first = Math.min(fired[0]!, recorded[0]!);
  const last = Math.max(...recorded);
  // Every tick is on record, without a gap.
  expect(recorded, what).toEqual(
    Array.from({ length: (last - first) / EVERY_MS + 1 }, (_, at) => first + at * EVERY_MS),
  );
  expect(world.time.now - last, what).toBeLessThan(EVERY_MS + 5_000);
  for (const [tick, state] of due) {
    expect(fired.includes(tick), `${what}: ${new Date(tick).toISOString()} is ${state}`).toBe(
      state === "fired",
    );
  }
  if (missed === "all") expect(recorded, what).toEqual(fired);
  // One job for all that were missed: the one after them fired.
  expect(due.get(last), what).toBe("fired");
}

async function dueTimes(world: World): Promise<Map<number, string>> {
  const due = new Map<number, string>();
  let cursor: string | null = null;
  do {
    const page = await world.store.ledger.read({ kind: "tick" }, { limit: 200, cursor });
    for (const { body, state } of page.entries) {
      const { tick } = JSON.parse(body) as { tick: number };
      expect(due.has(tick)).toBe(false);
      due.set(tick, state);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return due;
}

function byLocalClock(store: Store, skewMs: number): Store {
  return { ...store, now: async () => (await store.now()) + skewMs };
}

function troubled(store: Store, world: World, weather: Weather): Store {
  const link = <Some extends object>(inner: Some): Some =>
    new Proxy(inner, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member === "object" && member !== null) return link(member);
        if (typeof member !== "function") return member;
        if (["info", "onWakeup", "close"].includes(String(key))) return member;
        return async (...args: unknown[]) => {
          if (weather.isStoreAway) throw away(false);
          const isStruck = weather.random() < weather.trouble;
          const kind = weather.random();
          if (isStruck && kind < 0.4) throw away(false);
          const reply: unknown = await Reflect.apply(member, target, args);
          if (isStruck && kind < 0.8) throw away(true);
          // The whole process stands still between the answer and what it does with it.
          if (isStruck) world.time.leap(weather.random() * 14_000);
          return reply;
        };
      },
    });
  return link(store);
}

function away(mayHaveHappened: boolean): StoreUnavailableError {
  return new StoreUnavailableError("nobody answers", { mayHaveHappened });
}
