/** An import whose workers are killed at random points ends as if none had been. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inTier, onlyInFull } from "../runner/tier.ts";
import { openPeople, type ImportWorkerOptions } from "./import-worker.ts";
import { TARGET_NAMES } from "./target-of.ts";
import { targetPlace } from "./target-places.ts";

const PROGRAM = fileURLToPath(new URL("import-worker.ts", import.meta.url));
const ROWS = inTier({ daily: 1_500, full: 20_000 });
const KILLS = inTier({ daily: 3, full: 20 });
const AT_ONCE = 3;

/** Keys that come twice, rows that do not fit, rows that the target refuses, cells that are empty. */
function csvOf(rows: number): string {
  const lines = ["email,name,amount,day,n"];
  for (let n = 0; n < rows; n += 1) {
    const email = n % 50 === 49 ? `p${n - 30}` : n % 97 === 96 ? "" : `p${n}`;
    const name = n % 211 === 210 ? "refused" : n % 3 === 0 ? "" : `Name ${n}`;
    const day = n % 101 === 100 ? "no day" : "2026-01-31";
    lines.push(`${email},${name},${n / 4},${day},${n}`);
  }
  return `${lines.join("\n")}\n`;
}

/** What one clean pass makes of it, as arithmetic. */
function expected(rows: number) {
  const there = new Map<string, Record<string, unknown>>();
  let [inserted, updated, failed] = [0, 0, 0];
  for (const line of csvOf(rows).trimEnd().split("\n").slice(1)) {
    const [email = "", name = "", amount, day, n] = line.split(",");
    if (email === "" || day === "no day" || name === "refused") {
      failed += 1;
      continue;
    }
    if (there.has(email)) updated += 1;
    else inserted += 1;
    const row = { email, ...(name !== "" && { name }), amount: Number(amount), day, n: Number(n) };
    there.set(email, { ...there.get(email), ...row });
  }
  const table = [...there.keys()].toSorted().map((email) => there.get(email));
  return { table, counts: { totalRows: rows, inserted, updated, failed } };
}

/** Processes that wait for the import, so that another goes on as soon as one is killed. */
class Workers {
  readonly #options: ImportWorkerOptions;
  readonly #children = new Set<ChildProcess>();
  /** Told of every batch that is begun or written. */
  onWord: (word: string, child: ChildProcess) => void = () => {};

  constructor(options: ImportWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    const args = ["--conditions", "@holdfast/source", PROGRAM, JSON.stringify(this.#options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#children.add(child);
    createInterface({ input: child.stdout }).on("line", (word) => this.onWord(word, child));
  }

  async kill(child: ChildProcess): Promise<void> {
    this.#children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.kill(child)));
  }
}

/** At a point of its own choosing: before a batch, within it, or after it. */
async function killOne(workers: Workers, draw: () => number): Promise<void> {
  const at = draw() < 0.5 ? "write" : "written";
  let left = 1 + Math.floor(draw() * inTier({ daily: 3, full: 5 }));
  const { promise: reached, resolve } = Promise.withResolvers<ChildProcess>();
  workers.onWord = (word, child) => {
    if (word === at && --left === 0) resolve(child);
  };
  const child = await reached;
  await pause(draw() * 3);
  await workers.kill(child);
}

describe.each(TARGET_NAMES)("an import into %s", (target) => {
  it("that is killed again and again ends like a clean one", { timeout: 300_000 }, async (test) => {
    if (target !== "sqlite") onlyInFull(test);
    const seed = Date.now();
    let state = seed >>> 0;
    const draw = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    const place = await targetPlace(target);
    const folder = await mkdtemp(join(tmpdir(), "holdfast-kills-"));
    const options = {
      ...{ jobs: join(folder, "jobs.db"), inbox: join(folder, "inbox"), target, url: place.url },
    };
    const { hf, imports } = await openPeople(options);
    const workers = new Workers(options);
    try {
      const file = join(folder, "people.csv");
      await writeFile(file, csvOf(ROWS));
      const { id } = await imports.submitFile(file, { type: "people" });
      for (let started = 0; started < AT_ONCE; started += 1) workers.start();
      for (let kills = 0; kills < KILLS; kills += 1) {
        await killOne(workers, draw);
        if (kills + AT_ONCE < KILLS + 1) workers.start();
      }
      const before = await hf.job(id);
      expect(before?.status, `seed ${seed}`).not.toBe("succeeded");
      const ended = await hf.waitFor(id, { timeoutMs: 120_000 });
      const { table, counts } = expected(ROWS);
      expect(ended, `seed ${seed}`).toMatchObject({ status: "succeeded", result: counts });
      expect(ended.status === "succeeded" && ended.job.attempts).toBeGreaterThan(KILLS);
      expect(await place.rows(), `seed ${seed}`).toEqual(table);
      const errors = await imports.errors(id);
      expect(errors).toHaveLength(counts.failed);
      expect(await readdir(join(options.inbox, ".uploads"))).toEqual([]);
    } finally {
      await workers.killAll();
      await hf.close();
      await imports.close();
      await place.drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
