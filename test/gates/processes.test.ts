/** The bound of a rate in real time: four processes with eight workers on one store. Servers in the full tier. */
import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { onlyInFull } from "../runner/tier.ts";

const PROGRAM = fileURLToPath(new URL("gated-worker.ts", import.meta.url));
const RATE = { limit: 60, perMs: 1_500, burst: 15 };
/** A grant is used within this time. */
const GRANT_MS = 250;
const JOBS = 400;

interface Start {
  readonly at: number;
  readonly group: string;
}

const PLACES = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-gates-"));
    const dispose = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
    return { url: `sqlite:${join(folder, "jobs.db")}`, dispose };
  },
  async postgres() {
    const { postgresSchema } = await import("../servers/postgres-place.ts");
    const { url, schema, drop } = await postgresSchema();
    return { url: withParameter(url, "schema", schema), dispose: drop };
  },
  async redis() {
    const { serverUrl } = await import("../servers/server-desk.ts");
    const { redisHouse, redisPlace } = await import("../servers/redis-place.ts");
    const { prefix, dispose } = await redisPlace(await redisHouse("redis"));
    return { url: withParameter(await serverUrl("redis"), "prefix", prefix), dispose };
  },
  async mongodb() {
    const { serverUrl } = await import("../servers/server-desk.ts");
    const { mongodbDatabase } = await import("../servers/mongodb-place.ts");
    const { db, drop } = await mongodbDatabase();
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/${db.databaseName}`;
    return { url: url.href, dispose: drop };
  },
};

describe("a rate in real time", () => {
  for (const name of Object.keys(PLACES) as (keyof typeof PLACES)[]) {
    for (const isPerGroup of [false, true]) {
      const of = isPerGroup ? "of each group" : "of a queue";
      it(
        `${of} holds in every window for eight workers on ${name}`,
        { timeout: 120_000 },
        async (test) => {
          if (name !== "sqlite") onlyInFull(test);
          const { url, dispose } = await PLACES[name]();
          try {
            const starts = await race(url, isPerGroup);
            for (const group of new Set(starts.map((start) => start.group))) {
              const times = starts.filter((start) => start.group === group).map(({ at }) => at);
              expect(
                mostIn(
                  times.toSorted((a, b) => a - b),
                  RATE.perMs - GRANT_MS,
                ),
              ).toBeLessThanOrEqual(RATE.limit + RATE.burst);
            }
          } finally {
            await dispose();
          }
        },
      );
    }
  }
});

/** All starts until as many jobs have run as three windows let through. */
async function race(url: string, isPerGroup: boolean): Promise<readonly Start[]> {
  const queue = `q-${randomBytes(4).toString("hex")}`;
  const hf = await connect(url, { ledger: false });
  const children: ChildProcess[] = [];
  const starts: Start[] = [];
  const groups = isPerGroup ? ["a", "b", "c"] : [""];
  const wanted = 3 * RATE.limit * groups.length;
  const enough = Promise.withResolvers<void>();
  try {
    const rate = { ...RATE, ...(isPerGroup && { per: "group" as const }) };
    await hf.gates.set("real", { queue, rate });
    for (let count = 0; count < 4; count += 1) {
      const child = fork(PROGRAM, [url, queue], { execPath: process.execPath, execArgv: [] });
      children.push(child);
      child.on("message", (said: Start | "ready") => {
        if (said === "ready") return;
        starts.push(said);
        if (starts.length >= wanted) enough.resolve();
      });
    }
    await Promise.all(children.map((child) => once(child, "message")));
    await hf.enqueueAll(
      groups.flatMap((group) =>
        Array.from({ length: JOBS }, () => ({
          ...{ type: "work", payload: null, queue, ...(group !== "" && { group }) },
        })),
      ),
    );
    await enough.promise;
    return starts;
  } finally {
    const alive = children.filter((child) => child.exitCode === null);
    const ended = alive.map((child) => once(child, "exit"));
    for (const child of alive) child.kill("SIGKILL");
    await Promise.all(ended);
    await hf.close();
  }
}

function mostIn(times: readonly number[], windowMs: number): number {
  let most = 0;
  for (let from = 0, to = 0; to < times.length; to += 1) {
    while (times[to]! - times[from]! >= windowMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

function withParameter(url: string, name: string, value: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set(name, value);
  return parsed.href;
}
