import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Store } from "../../core/store.ts";
import { newJobs } from "../../testing/conformance/new-job.ts";
import { sqliteStore } from "./index.ts";

const MB = 1024 * 1024;
let folder: string;
let file: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-wal-"));
  file = join(folder, "jobs.db");
  store = sqliteStore({ file, synchronous: "normal" });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

function logBytes(): number {
  return existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0;
}

/** About so many megabytes of jobs. */
async function writeMb(mb: number): Promise<void> {
  const payload = JSON.stringify("x".repeat(20_000));
  for (let written = 0; written < mb * MB; written += 50 * payload.length) {
    await store.insert(newJobs(50, { payload }));
  }
}

describe("the write-ahead log", () => {
  it("does not grow with what is written", async () => {
    await writeMb(40);
    assert.ok(logBytes() < 20 * MB, `${logBytes()} bytes`);
  });

  it("shrinks again after a reader that would not let go", async () => {
    await store.insert(newJobs(10));
    const reader = new DatabaseSync(file);
    const rows = reader.prepare("SELECT * FROM holdfast_job").iterate();
    rows.next();
    await writeMb(30);
    assert.ok(logBytes() > 25 * MB, "the reader keeps the log from being copied back");
    rows.return?.();
    reader.close();
    await writeMb(12);
    assert.ok(logBytes() < 20 * MB, `${logBytes()} bytes`);
  });

  it("is gone when the last one has closed", async () => {
    await writeMb(1);
    await store.close();
    assert.equal(logBytes(), 0);
  });

  it("is copied back when the store has been quiet for a while, and then begun anew", async () => {
    await writeMb(1);
    const bytes = logBytes();
    // The header of a log has two numbers that change when it is begun anew.
    const salt = () => readFileSync(`${file}-wal`).subarray(16, 24).toString("hex");
    const before = salt();
    while (statSync(file).size < MB) await new Promise((resolve) => setImmediate(resolve));
    await store.insert(newJobs(1));
    assert.notEqual(salt(), before);
    assert.equal(logBytes(), bytes);
  });
});
