/** What only a large file shows of a reap. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import { newJob } from "../../testing/conformance/new-job.ts";
import { sqliteStore } from "./index.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-reap-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("a reap", () => {
  it("moves due jobs of very many queues in steps", async () => {
    const file = join(folder, "jobs.db");
    let now = Date.now();
    const store = sqliteStore({ file, now: () => now });
    await store.open();
    const jobs = Array.from({ length: 2_000 }, (_, n) =>
      newJob({ queue: `q${n % 100}`, delayMs: 1_000 }),
    );
    for (let at = 0; at < jobs.length; at += 500) await store.insert(jobs.slice(at, at + 500));
    now += 2_000;
    const file2 = new DatabaseSync(file);
    const moved = (): number =>
      Number(file2.prepare("SELECT count(*) AS n FROM holdfast_ready").get()?.["n"]);
    let before = 0;
    for (let calls = 0; calls < 4; calls++) {
      await store.reap({ limit: 100 });
      assert.ok(moved() > before && moved() - before <= 500);
      before = moved();
    }
    assert.equal(before, 2_000);
    file2.close();
    await store.close();
  });
});
