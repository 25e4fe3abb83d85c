/** Jobs of every status through all stores that keep them, and a move that is killed on its way. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { storeOfUrl } from "../../packages/holdfast/src/connect.ts";
import type { AdoptedJob, KeyLifetime } from "../../packages/holdfast/src/core/job.ts";
import { exportJobs } from "../../packages/holdfast/src/move/index.ts";
import { uuidV7 } from "../../packages/holdfast/src/core/uuid.ts";
import { inTier } from "../runner/tier.ts";
import { postgresDatabase, type PostgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { startCli } from "./real-process.ts";
import { adopted } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

const JOBS = inTier({ daily: 400, full: 20_000 });
const PATIENCE_MS = inTier({ daily: 60_000, full: 600_000 });
const KILLS = inTier({ daily: 1, full: 5 });

let terminal: Terminal;
let database: PostgresDatabase;
let places: Readonly<Record<"postgres" | "redis" | "mongodb", string>>;
beforeAll(async () => {
  terminal = await Terminal.open();
  database = await postgresDatabase();
  const name = `move${randomBytes(4).toString("hex")}`;
  const redis = new URL(await serverUrl("redis"));
  redis.searchParams.set("prefix", name);
  const mongodb = new URL(await serverUrl("mongodb"));
  mongodb.pathname = `/${name}`;
  places = { postgres: database.url, redis: redis.href, mongodb: mongodb.href };
});
afterAll(async () => {
  await database?.drop();
  await terminal?.close();
});

const sqliteUrl = (name: string) => `sqlite:${join(terminal.folder, `${name}.db`)}`;

const LIFETIMES: readonly KeyLifetime[] = ["kept", "until-finished", { ttlMs: 3_600_000 }];
const STATUSES = ["queued", "queued", "dead", "succeeded", "cancelled"] as const;

/** Of all statuses, some due later, some with keys, in several queues and groups. */
function jobOf(index: number): AdoptedJob {
  const now = Date.now();
  const status = STATUSES[index % STATUSES.length] ?? "queued";
  const isFinished = status !== "queued";
  const lifetime = LIFETIMES[index % LIFETIMES.length] ?? "kept";
  const random = new Uint8Array(randomBytes(10));
  return adopted({
    ...{
      id: uuidV7(now, random),
      status,
      queue: `queue-${index % 3}`,
      group: index % 4 === 0 ? "g" : "",
    },
    ...{ payload: JSON.stringify({ index, text: "ü\u0000€".repeat(index % 7) }), createdAt: now },
    ...{ runAt: now + (index % 2) * 3_600_000, attempts: index % 5, fence: index },
    ...(isFinished && { startedAt: now - 10, finishedAt: now - 5 }),
    ...(status === "succeeded" && { result: '{"ok":true}' }),
    ...(status === "dead" && {
      reason: "failed",
      error: { category: "network", message: "away", stack: null, fingerprint: `fp${index % 3}` },
    }),
    ...(index % 6 === 0 && { dedupe: { key: `key-${index}`, hash: "unused", lifetime } }),
  });
}

async function fill(url: string): Promise<void> {
  const store = await storeOfUrl(url);
  await store.open();
  for (let from = 0; from < JOBS; from += 200) {
    const size = Math.min(200, JOBS - from);
    await store.adopt(Array.from({ length: size }, (_, at) => jobOf(from + at)));
  }
  await store.close();
}

async function contents(url: string): Promise<Map<string, AdoptedJob>> {
  const store = await storeOfUrl(url);
  await store.open();
  const jobs = new Map<string, AdoptedJob>();
  for await (const page of exportJobs(store, { finished: true })) {
    for (const job of page) jobs.set(job.id, job);
  }
  await store.close();
  return jobs;
}

it("jobs are the same after a way through every store", { timeout: PATIENCE_MS }, async () => {
  const way = [sqliteUrl("a"), places.postgres, places.redis, places.mongodb, sqliteUrl("b")];
  await fill(way[0] as string);
  for (const [at, url] of way.entries()) {
    const next = way[at + 1];
    if (next === undefined) break;
    const ran = await terminal.run(["move", "--url", url, "--to", next, "--finished", "--yes"]);
    expect(ran.out, ran.err).toContain("Verified");
    expect(ran.code).toBe(0);
  }
  const [before, after] = [await contents(way[0] as string), await contents(way[4] as string)];
  expect(before.size).toBe(JOBS);
  expect(after).toEqual(before);
});

it("a killed move is run again, and the jobs are the same", { timeout: PATIENCE_MS }, async () => {
  const [from, to] = [sqliteUrl("c"), sqliteUrl("d")];
  await fill(from);
  const argv = ["move", "--url", from, "--to", to, "--finished", "--yes"];
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, ended } = startCli(argv, terminal.folder);
    const store = await storeOfUrl(to);
    // At a random point of its way: after so many jobs are there.
    const enough = Math.floor(Math.random() * JOBS * 0.8) + 1;
    let isOver = false;
    void ended.then(() => (isOver = true));
    await store.open();
    while (!isOver) {
      const counts = await store.count();
      const there = counts.reduce(
        (sum, one) => sum + one.ready + one.delayed + one.dead + one.succeeded + one.cancelled,
        0,
      );
      if (there >= enough) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill("SIGKILL");
    await ended;
    await store.close();
  }
  const last = await terminal.run(argv);
  expect(last, last.err).toMatchObject({ code: 0 });
  expect(last.out).toContain("Verified");
  expect(await contents(to)).toEqual(await contents(from));
});
