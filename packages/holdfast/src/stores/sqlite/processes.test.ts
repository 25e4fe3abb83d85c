/**
 * Several processes on one file. This file is also the program of those processes: it is started with
 * what to do, and the path, and talks through its output.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, it } from "vitest";
import { inTier } from "../../../../../test/runner/tier.ts";
import { idsOf, newJob, newJobs } from "../../testing/conformance/new-job.ts";
import { release, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";

const PROGRAM = fileURLToPath(import.meta.url);

/** What a child does. It says what is acknowledged, line by line, at once. */
const PROGRAMS: Record<string, (file: string) => Promise<void>> = {
  /** Opens a file that may be new and puts one job in. */
  async first(file) {
    const store = sqliteStore({ file });
    await store.open();
    const [result] = await store.insert([newJob()]);
    say("insert", result?.outcome ?? "nothing");
    await store.close();
  },

  /** Inserts, leases and settles until it is killed. */
  async forever(file) {
    const store = sqliteStore({ file });
    await store.open();
    for (;;) {
      const jobs = newJobs(5);
      await store.insert(jobs);
      for (const { id } of jobs) say("insert", id);
      const { jobs: leased } = await store.lease(leaseRequest(3));
      await store.settle(leased.map((job) => settlement(job, succeed())));
      for (const { id } of leased) say("settle", id);
    }
  },

  /** Fills and empties a queue that others fill and empty too. */
  async drain(file) {
    const store = sqliteStore({ file });
    await store.open();
    for (let round = 0; round < 60; round++) {
      await store.insert(newJobs(2));
      const { jobs } = await store.lease(leaseRequest(5, { worker: `w${process.pid}` }));
      for (const { id } of jobs) say("lease", id);
      await store.settle(jobs.map((job) => settlement(job, succeed())));
    }
    await store.close();
  },

  /** Takes jobs and hands them back until it is killed. */
  async turn(file) {
    const store = sqliteStore({ file });
    await store.open();
    for (;;) {
      const { jobs } = await store.lease(leaseRequest(10));
      say("lease", String(jobs.length));
      await store.settle(jobs.map((job) => settlement(job, release())));
    }
  },

  /** Waits for a word, then inserts. */
  async enqueue(file) {
    const store = sqliteStore({ file });
    await store.open();
    say("open", "");
    await once(process.stdin, "data");
    await store.insert([newJob()]);
    await store.close();
    process.stdin.destroy();
  },
};

function say(what: string, id: string): void {
  writeSync(1, `${what} ${id}\n`);
}

class Child {
  readonly process: ChildProcess;
  readonly said: Record<string, string[]> = {};
  readonly errors: string[] = [];
  readonly ended: Promise<unknown>;
  #onLine: (() => void) | null = null;

  constructor(what: string, file: string) {
    this.process = spawn(process.execPath, [PROGRAM, what, file], { stdio: "pipe" });
    this.process.stderr?.on("data", (text: Buffer) => this.errors.push(text.toString()));
    const lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      const [word = "", id = ""] = line.split(" ");
      (this.said[word] ??= []).push(id);
      this.#onLine?.();
    });
    this.ended = Promise.all([once(this.process, "exit"), once(lines, "close")]);
  }

  /** Resolves once it has said something so often. */
  async says(what: string, times: number): Promise<void> {
    while ((this.said[what]?.length ?? 0) < times) {
      if (this.process.exitCode !== null) assert.fail(`it ended: ${this.errors.join("")}`);
      await new Promise<void>((resolve) => (this.#onLine = resolve));
    }
  }
}

const [, main, what = "", path = ""] = process.argv;
if (main === PROGRAM) await PROGRAMS[what]?.(path);
else describe("several processes on one SQLite file", { timeout: 120_000 }, tests);

function tests(): void {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-processes-"));
    file = join(folder, "jobs.db");
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("ten that open a new file at once all find it ready", async () => {
    const children = Array.from({ length: 10 }, () => new Child("first", file));
    await Promise.all(children.map((child) => child.ended));
    for (const { said, errors } of children) {
      assert.deepEqual([said["insert"], errors], [["added"], []]);
    }
    const store = sqliteStore({ file });
    await store.open();
    assert.equal((await store.count())[0]?.ready, 10);
    await store.close();
  });

  it("what was acknowledged survives kill -9 in the middle of commits", async () => {
    const inserted: string[] = [];
    const settled: string[] = [];
    for (let kill = 1; kill <= inTier({ daily: 4, full: 20 }); kill++) {
      const children = [new Child("forever", file), new Child("forever", file)];
      await Promise.all(children.map((child) => child.says("settle", 10 * kill)));
      for (const child of children) child.process.kill("SIGKILL");
      await Promise.all(children.map((child) => child.ended));
      for (const { said } of children) {
        inserted.push(...(said["insert"] ?? []));
        settled.push(...(said["settle"] ?? []));
      }
    }
    const database = new DatabaseSync(file);
    assert.equal(database.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok");
    database.close();
    const store = sqliteStore({ file });
    await store.open();
    const jobs = await store.get(inserted.map((id) => ({ id })));
    assert.ok(jobs.every((job) => job !== null && job !== "pruned"));
    const done = await store.get(settled.map((id) => ({ id })));
    assert.ok(done.every((job) => job !== null && job !== "pruned" && job.status === "succeeded"));
    await store.close();
  });

  it("busy neighbours never show, and no job is leased twice", async () => {
    const children = Array.from({ length: 4 }, () => new Child("drain", file));
    await Promise.all(children.map((child) => child.ended));
    for (const { errors } of children) assert.deepEqual(errors, []);
    const leased = children.flatMap(({ said }) => said["lease"] ?? []);
    assert.ok(leased.length > 0);
    assert.equal(new Set(leased).size, leased.length);
    const store = sqliteStore({ file });
    await store.open();
    const [counts] = await store.count();
    assert.deepEqual([counts?.processing, counts?.succeeded], [0, leased.length]);
    await store.close();
  });

  it("a page and counts have every job, also those that another moves at that moment", async () => {
    const store = sqliteStore({ file });
    await store.open();
    await store.insert(newJobs(40));
    const open = { status: ["queued", "processing"] } as const;
    const child = new Child("turn", file);
    await child.says("lease", 5);
    for (let look = 0; look < 1_000; look += 1) {
      assert.equal((await store.find(open, { limit: 50 })).jobs.length, 40);
      const [counts] = await store.count();
      assert.equal((counts?.ready ?? 0) + (counts?.processing ?? 0), 40);
    }
    child.process.kill("SIGKILL");
    await child.ended;
    assert.deepEqual(child.errors, []);
    await store.close();
  });

  it("an insert in one wakes those who listen in another", async () => {
    const store = sqliteStore({ file });
    await store.open();
    const woken = new Promise<readonly string[]>((resolve) => {
      store.onWakeup(({ queues }) => resolve(queues));
    });
    const child = new Child("enqueue", file);
    await child.says("open", 1);
    child.process.stdin?.write("go\n");
    assert.deepEqual(await woken, ["mail"]);
    await child.ended;
    assert.deepEqual(child.errors, []);
    assert.equal(idsOf((await store.lease(leaseRequest(1))).jobs).length, 1);
    await store.close();
  });

  it("sockets that dead processes left behind are removed", async () => {
    const store = sqliteStore({ file });
    await store.open();
    const child = new Child("enqueue", file);
    await child.says("open", 1);
    child.process.kill("SIGKILL");
    await child.ended;
    await writeFile(join(`${file}.wake`, "no-socket"), "");
    assert.equal((await readdir(`${file}.wake`)).length, 3);
    const other = sqliteStore({ file });
    await other.open();
    // Connecting is asynchronous; the refusals have come once a wakeup went through.
    const woken = new Promise<void>((resolve) => void store.onWakeup(() => resolve()));
    await other.insert([newJob()]);
    await woken;
    assert.equal((await readdir(`${file}.wake`)).length, 2);
    await other.close();
    await store.close();
    assert.deepEqual(await readdir(folder), ["jobs.db"]);
  });
}
