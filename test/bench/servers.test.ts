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
import { afterAll, expect, it } from "vitest";
import type { Metrics } from "../../bench/scenario.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));
const PACKAGE = new URL("../../packages/holdfast/package.json", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["postgres", /fsync on, synchronous_commit on/],
  ["redis", /appendonly yes, appendfsync everysec/],
  ["mongodb", /journal on, default write concern .*majority/],
])(
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

/** A store that is published takes part. */
function isExported(store: string): boolean {
  const { exports } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { exports: object };
  return Object.hasOwn(exports, `./${store}`);
}
