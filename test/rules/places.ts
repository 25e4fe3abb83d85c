/**
 * Where the data of a small world lies: one place on each store, with the clock of the world instead of
 * the host's. Server stores lie on the shared servers, in a schema, prefix or database of the test file.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";

export interface Place {
  /** Another process's way to the same data. */
  open(): Store;
  /** Told before time moves on, where the store cannot ask. */
  setClock?(now: number): Promise<void>;
  /** Hints come over a connection of their own: a moment of real time, after which they are here. */
  readonly hintMs: number;
  dispose(): Promise<void>;
}

export const PLACES = {
  async memory(now: () => number): Promise<Place> {
    const shared = memoryStore({ now });
    // Each process closes its own; the data stays until the world ends.
    const open = () => ({ ...shared, close: async () => {} });
    return { open, hintMs: 0, dispose: () => shared.close() };
  },

  async sqlite(now: () => number): Promise<Place> {
    const { sqliteStore } = await import("../../packages/holdfast/src/stores/sqlite/index.ts");
    const folder = await mkdtemp(join(tmpdir(), "holdfast-rules-"));
    const file = join(folder, "jobs.db");
    return {
      open: () => sqliteStore({ file, now, synchronous: "normal" }),
      hintMs: 0,
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  },

  async postgres(now: () => number): Promise<Place> {
    const { postgresSchema } = await import("../servers/postgres-place.ts");
    const { postgresStore } = await import("../../packages/holdfast/src/stores/postgres/index.ts");
    const schema = await oncePerFile("postgres", () => postgresSchema({ hasStillClock: true }));
    await schema.setClock(now());
    return {
      open: () => postgresStore({ ...schema.way, schema: schema.schema }),
      setClock: (at) => schema.setClock(at),
      hintMs: 3,
      dispose: () => schema.clear(),
    };
  },

  async redis(now: () => number): Promise<Place> {
    const { redisHouse, redisPlace } = await import("../servers/redis-place.ts");
    const { redisStore } = await import("../../packages/holdfast/src/stores/redis/index.ts");
    const house = await oncePerFile("redis", () => redisHouse("redis"));
    const { prefix, dispose } = await redisPlace(house);
    const open = () => redisStore({ client: house.client, prefix, now });
    return { open, hintMs: 3, dispose };
  },

  async mongodb(now: () => number): Promise<Place> {
    const { mongodbDatabase } = await import("../servers/mongodb-place.ts");
    const { mongodbStore } = await import("../../packages/holdfast/src/stores/mongodb/index.ts");
    const database = await oncePerFile("mongodb", () => mongodbDatabase());
    const open = () => mongodbStore({ db: database.db, now });
    return { open, hintMs: 5, dispose: () => database.clear() };
  },
} satisfies Record<string, (now: () => number) => Promise<Place>>;

const made = new Map<string, Promise<unknown>>();

/** Tables and indexes are made once for a test file; its process ends with it. */
function oncePerFile<T>(name: string, make: () => Promise<T>): Promise<T> {
  const there = made.get(name) ?? make();
  made.set(name, there);
  return there as Promise<T>;
}
