import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Holdfast } from "../index.ts";
import { sqliteStore } from "../stores/sqlite/index.ts";

const source = (path: string) => pathToFileURL(join(import.meta.dirname, "..", path)).href;

/** A worker whose only job hears its signal (or not). */
const program = (hears: boolean) => `
  import { Holdfast, closeOnSignals } from "${source("index.ts")}";
  import { sqliteStore } from "${source("stores/sqlite/index.ts")}";
  const hf = new Holdfast({ store: sqliteStore({ file: process.argv[1] }) });
  hf.define({ type: "long", run: (job) => new Promise((_, reject) => {
    setInterval(() => {}, 1_000);
    if (${hears}) job.signal.addEventListener("abort", () => reject(job.signal.reason));
    process.stdout.write("started\\n");
  }) });
  closeOnSignals(hf, { graceMs: 50 });
  await hf.enqueue("long", null, { idempotencyKey: "one" });
  await hf.work();
`;

describe("closeOnSignals", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-signals-"));
    file = join(folder, "jobs.db");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function start(hears: boolean) {
    const args = ["--input-type=module-typescript", "--eval", program(hears), file];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    return child;
  }

  it("hands running jobs back at the first signal and exits with 0", async () => {
    const child = await start(true);
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    const hf = new Holdfast({ store: sqliteStore({ file }) });
    expect((await hf.jobs()).jobs).toMatchObject([{ status: "queued", attempts: 0 }]);
    await hf.close();
  });

  it("exits at once at the second", async () => {
    const child = await start(false);
    child.kill("SIGTERM");
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    expect([130, 143]).toContain(code);
  });
});
