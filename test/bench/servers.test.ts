/**
 * That the benchmark runs on the servers, each with settings that make an acknowledgement durable. Only
 * the raw loops and Holdfast: peers are installed by the benchmark's own command.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { STORE_NAMES } from "../../bench/contenders/index.ts";
import { RAW_BATCH_ITEMS } from "../../bench/raw/batch-items.ts";
import type { Metrics } from "../../bench/scenario.ts";
import { mongodbStore } from "../../packages/holdfast/src/stores/mongodb/index.ts";
import { postgresStore } from "../../packages/holdfast/src/stores/postgres/index.ts";
import { redisStore } from "../../packages/holdfast/src/stores/redis/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { inTier } from "../runner/tier.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));
const PACKAGE = new URL("../../packages/holdfast/package.json", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DURABLE: (readonly [store: string, words: RegExp])[] = [
  ["postgres", /fsync on, synchronous_commit on/],
  ["redis", /appendonly yes, appendfsync everysec/],
  ["mongodb", /journal on, default write concern .*majority/],
];

it.each(inTier({ daily: DURABLE.slice(0, 1), full: DURABLE }))(
  "on %s, the raw loop and Holdfast take jobs in and run them, and none is lost",
  async (store, durable) => {
    const json = join(folder, `${store}.json`);
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[MAIN, "--store", store, "--quick", "--rounds", "1", "--json", json],
      ...["--only", "enqueue,drain", "--contenders", "raw,holdfast"],
    ]);
    expect(stdout).toMatch(durable);
    const { samples } = JSON.parse(readFileSync(json, "utf8")) as {
      samples: { scenario: string; samples: Record<string, Metrics[]> }[];
    };
    expect(samples.map(({ scenario }) => scenario)).toEqual(["enqueue", "drain"]);
    const names = isExported(store) ? ["raw", "holdfast"] : ["raw"];
    for (const { scenario, samples: measured } of samples) {
      expect(Object.keys(measured)).toEqual(names);
      for (const [metrics] of Object.values(measured)) {
        expect(metrics?.["jobsPerSecond"]).toBeGreaterThan(0);
        if (scenario === "drain") expect(metrics).toMatchObject({ lost: 0, twice: 0 });
      }
    }
  },
  240_000,
);

/** What all stores are asked about Holdfast alone; those that take many processes only at night. */
const ASKED = inTier({
  daily: ["pages"],
  full: ["capped", "held", "queues", "pages", "processes"],
});
const ASKED_OF = {
  sqlite: inTier({ daily: ["capped", "held"], full: [] }),
  postgres: inTier({ daily: [], full: ["idle"] }),
  redis: [],
  mongodb: [],
};

describe.each(inTier({ daily: ["sqlite"] as const, full: STORE_NAMES }))("on %s", (store) => {
  it("many lines and queues and a page of dead jobs are measured, and each has its line", async () => {
    const asked = [...ASKED, ...ASKED_OF[store]];
    const json = join(folder, `${store}-alone.json`);
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[MAIN, "--store", store, "--quick", "--rounds", "1", "--json", json],
      ...["--only", asked.join(","), "--contenders", "holdfast"],
    ]);
    const { lines } = JSON.parse(readFileSync(json, "utf8")) as {
      lines: { scenario: string; label: string; met?: boolean; totals?: object }[];
    };
    const judged = lines.filter(({ met, totals }) => met !== undefined && !totals);
    expect(new Set(judged.map(({ scenario }) => scenario))).toEqual(new Set(asked));
    // How fast it is here is not asked: but nothing may be lost, run twice or missing.
    for (const { label, met, totals } of lines)
      if (totals) expect({ label, met }).toEqual({ label, met: true });
    if (asked.includes("queues")) {
      expect(stdout).toMatch(/a prune, 5k queues on record +[\d.,]+ +ms/);
    }
    expect(stdout).toMatch(/many newer ÷ 10k newer +[\d.]+ +×/);
  }, 480_000);
});

it("the raw loops take as many jobs at a time as the stores do", () => {
  const stores = {
    sqlite: sqliteStore({ file: join(folder, "never-opened.db") }),
    postgres: postgresStore({ url: "postgres://localhost/never_opened" }),
    redis: redisStore({ url: "redis://localhost" }),
    mongodb: mongodbStore({ url: "mongodb://localhost/never_opened" }),
  };
  for (const [name, { batchItems }] of Object.entries(stores)) {
    expect({ name, batchItems }).toEqual({
      name,
      batchItems: RAW_BATCH_ITEMS[name as keyof typeof stores],
    });
  }
});

/** A store that is published takes part. */
function isExported(store: string): boolean {
  const { exports } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { exports: object };
  return Object.hasOwn(exports, `./${store}`);
}
