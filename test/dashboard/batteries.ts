/** What is mounted beside the server in these tests: imports with rows that fail, simulations in several states. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { importTypes, openImports, sqliteTarget } from "@holdfast/imports";
import { importsMount } from "@holdfast/imports/server";
import { Pacing } from "@holdfast/pacing";
import { pacingMount } from "@holdfast/pacing/server";
import type { Mount } from "@holdfast/server";
import type { Holdfast } from "holdfast";
import { vi } from "vitest";
import type { Served } from "../server/served.ts";

const MINUTE = 60_000;
/** The last of them a file that nobody has imported yet. */
export const FILES = ["Customers.csv", "Vendors-2026.csv", "Customers-new.csv"] as const;

export interface Batteries {
  readonly mounts: readonly Mount[];
  readonly pacing: Pacing;
  /** Ids of imports, by what they are. */
  readonly imports: { done: string; dead: string };
  /** How many customers the target has. */
  customers(): number;
  fill(served: Served, texts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export async function openBatteries(hf: Holdfast): Promise<Batteries> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-dashboard-"));
  const file = join(folder, "app.db");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE customers (email PRIMARY KEY, name)");
  const inbox = join(folder, "inbox");
  const imports = await openImports(hf, {
    ...{ inbox, queue: "sheets" },
    types: [importTypes.customers({ target: sqliteTarget({ file, table: "customers" }) })],
    manifest: Object.fromEntries(FILES.map((name) => [name, { type: "customers" }])),
  });
  const pacing = new Pacing(hf, {
    ...{ retry: { maxAttempts: 1 }, watchMs: 500, outbound: { cooldown: true } },
    create({ index }) {
      if (index % 9 === 4) throw new Error(`HTTP 409: contact ${index} is there already`);
    },
    act() {},
  });
  const ids = { done: "", dead: "" };
  return {
    ...{ mounts: [importsMount(imports), pacingMount(pacing)], pacing, imports: ids },
    customers: () => (db.prepare("SELECT count(*) AS n FROM customers").get() as { n: number }).n,
    async fill(served, texts) {
      await writeFile(join(inbox, FILES[0]), sheetOf(texts));
      await writeFile(join(inbox, FILES[1]), "email,name\n" + "a@example.com,A\n".repeat(3));
      ids.done = (await imports.submit(FILES[0])).id;
      ids.dead = (await imports.submit(FILES[1])).id;
      // It is another file than the one that was looked at: the job refuses it.
      await writeFile(join(inbox, FILES[1]), "email,name\nb@example.com,B\n");
      await simulate(pacing, texts);
      await hf.work({ queues: ["sheets"], pollMs: 50 });
      await pacing.work({ concurrency: 4, pollMs: 50 });
      for (const id of [ids.done, ids.dead]) await served.hf.waitFor(id, { timeoutMs: 20_000 });
      // Houses are opened in hooks, where `expect.poll` refuses to work.
      const hasDead = async () => (await pacing.deadLetters("spring")).total > 0;
      await vi.waitUntil(hasDead, { timeout: 60_000, interval: 100 });
    },
    async close() {
      await imports.close();
      db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Each text is a name that fits, and a mail address that does not. */
function sheetOf(texts: readonly string[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const good = Array.from({ length: 200 }, (_, at) => `c${at}@example.com,Customer ${at}`);
  const bad = texts.map((text) => `${quoted(text)},${quoted(text)}`);
  return ["email,name", ...good.slice(0, 120), ...bad, ...good.slice(120)].join("\n");
}

/** One that runs and is behind, one that waits for its start, one that somebody paused. */
async function simulate(pacing: Pacing, [first = ""]: readonly string[]): Promise<void> {
  const start = new Date(Date.now() - 35 * MINUTE);
  const scenario = {
    ...{ probabilities: { note: 0.5, call: 0.2 }, budgets: { note: 40 } },
    ...{ capacity: { contact: 60_000, note: 600 }, delaysMs: { note: [0, MINUTE] as const } },
  };
  const span = { durationMs: 120 * MINUTE, segmentMs: 10 * MINUTE };
  await pacing.create({
    id: "spring",
    records: 240,
    start,
    ...span,
    scenario,
    distribution: { shape: "bell" },
  });
  await pacing.create({ id: "autumn", records: 5_000, ...span });
  await pacing.create({
    id: "summer",
    records: 100,
    // On another day at any hour: a date with its time is the widest that a column of times has.
    start: new Date(Date.now() + 36 * 60 * MINUTE),
    ...span,
  });
  await pacing.start("summer", { by: "ops" });
  await pacing.pause("summer", { by: "ops", reason: `the plan changes ${first}` });
  await pacing.start("spring", { by: "ops", reason: "as planned" });
  await pacing.setConfig({ budgets: { call: 30 } }, { id: "spring", by: "ops" });
}
