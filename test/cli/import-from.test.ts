/** `holdfast import-from` against real queues, filled by the packages themselves. */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { installPackages } from "../../scripts/install-packages.mjs";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { Terminal } from "./terminal.ts";

const folder = fileURLToPath(new URL("../../bench", import.meta.url));
const from = createRequire(join(folder, "package.json"));
// oxlint-disable-next-line typescript/no-explicit-any -- packages that are installed only there
const load = async (name: string): Promise<any> =>
  import(pathToFileURL(from.resolve(name)).href) as Promise<unknown>;
const unique = () => `imp${randomBytes(5).toString("hex")}`;
const HOUR = 3_600_000;

interface Filled {
  readonly url: string;
  readonly at?: string;
  /** What is there, to see that nothing was changed. */
  look(): Promise<unknown>;
  close(): Promise<void>;
}

/** Each has 250 `news` that wait, a `reminder` in an hour, a `welcome` that failed, and a repeating `report`. */
const SYSTEMS: Readonly<Record<string, { readonly repeats: boolean; fill(): Promise<Filled> }>> = {
  bullmq: {
    repeats: true,
    async fill() {
      const { Queue, Worker } = await load("bullmq");
      const { Redis } = await load("ioredis");
      const url = await serverUrl("redis");
      const prefix = unique();
      const client = () => new Redis(url, { maxRetriesPerRequest: null });
      const connection = client();
      const queue = new Queue("mail", { connection, prefix });
      const failed = Promise.withResolvers<void>();
      const blocking = client();
      const worker = new Worker(
        "mail",
        async () => {
          throw new Error("no such mailbox");
        },
        { connection: blocking, prefix },
      );
      worker.on(
        "failed",
        (job: { attemptsMade: number }) => job.attemptsMade === 2 && failed.resolve(),
      );
      await queue.add("welcome", { to: "ada" }, { attempts: 2 });
      await failed.promise;
      await worker.close();
      await queue.addBulk(
        Array.from({ length: 250 }, (_, n) => ({
          name: "news",
          data: { n },
          opts: { priority: n % 2 },
        })),
      );
      await queue.add("reminder", { to: "ada" }, { delay: HOUR, attempts: 4 });
      await queue.upsertJobScheduler(
        "weekly",
        { pattern: "0 9 * * 1", tz: "Europe/Berlin" },
        { name: "report", data: { kind: "weekly" } },
      );
      const look = () => queue.getJobCounts();
      const close = async () => {
        await queue.close();
        for (const one of [connection, blocking]) one.disconnect();
      };
      return { url, at: prefix, look, close };
    },
  },
  "pg-boss": {
    repeats: true,
    async fill() {
      const { PgBoss } = await load("pg-boss");
      const { url } = await postgresDatabase();
      const boss = new PgBoss({ connectionString: url, schedule: false });
      boss.on("error", () => {});
      await boss.start();
      for (const name of ["welcome", "news", "reminder", "report"]) await boss.createQueue(name);
      const id: string = await boss.send("welcome", { to: "ada" }, { retryLimit: 0 });
      await boss.fetch("welcome");
      await boss.fail("welcome", id, new Error("no such mailbox"));
      await boss.insert(
        "news",
        Array.from({ length: 250 }, (_, n) => ({ data: { n } })),
      );
      await boss.send("reminder", { to: "ada" }, { startAfter: 3_600, retryLimit: 3 });
      await boss.schedule("report", "0 9 * * 1", { kind: "weekly" }, { tz: "Europe/Berlin" });
      const look = async () =>
        Promise.all(["welcome", "news", "reminder"].map((name) => boss.findJobs(name)));
      return { url, look, close: () => boss.stop({ graceful: false, close: true }) };
    },
  },
  "graphile-worker": {
    repeats: false,
    async fill() {
      const { makeWorkerUtils, runOnce } = await load("graphile-worker");
      const { url } = await postgresDatabase();
      const utils = await makeWorkerUtils({ connectionString: url });
      await utils.migrate();
      await utils.addJob("welcome", { to: "ada" }, { maxAttempts: 1 });
      await runOnce({
        connectionString: url,
        taskList: {
          welcome: async () => {
            throw new Error("no such mailbox");
          },
        },
        noHandleSignals: true,
      }).catch(() => {});
      for (let n = 0; n < 250; n += 1) await utils.addJob("news", { n }, { priority: n % 2 });
      const runAt = new Date(Date.now() + HOUR);
      await utils.addJob("reminder", { to: "ada" }, { runAt, maxAttempts: 4, queueName: "serial" });
      const look = async () => {
        const { rows } = await utils.withPgClient((client: { query(sql: string): unknown }) =>
          client.query("SELECT id, attempts, run_at FROM graphile_worker.jobs ORDER BY id"),
        );
        return rows as unknown;
      };
      return { url, look, close: () => utils.release() };
    },
  },
  agenda: {
    repeats: true,
    async fill() {
      const { Agenda } = await load("agenda");
      const { MongoBackend } = await load("@agendajs/mongo-backend");
      const { MongoClient } = await load("mongodb");
      const place = new URL(await serverUrl("mongodb"));
      place.pathname = `/${unique()}`;
      const client = await new MongoClient(place.href).connect();
      const agenda = new Agenda({
        backend: new MongoBackend({ mongo: client.db() }),
        processEvery: 100,
      });
      const failed = Promise.withResolvers<void>();
      agenda.define("welcome", async () => {
        throw new Error("no such mailbox");
      });
      agenda.on("fail:welcome", () => failed.resolve());
      await agenda.start();
      await agenda.now("welcome", { to: "ada" });
      await failed.promise;
      const jobs = client.db().collection("agendaJobs");
      const isOver = { name: "welcome", nextRunAt: null, lockedAt: null };
      await expect.poll(() => jobs.countDocuments(isOver)).toBe(1);
      await agenda.stop(false);
      for (let n = 0; n < 250; n += 1)
        await agenda.create("news", { n }).schedule(new Date()).save();
      await agenda.schedule(new Date(Date.now() + HOUR), "reminder", { to: "ada" });
      await agenda.every("0 9 * * 1", "report", { kind: "weekly" }, { timezone: "Europe/Berlin" });
      const look = () => jobs.find().sort({ _id: 1 }).toArray();
      return { url: place.href, look, close: () => client.close() };
    },
  },
};

describe("import-from", { timeout: 120_000 }, () => {
  let isInstalled = false;
  let terminal: Terminal;
  beforeAll(async () => {
    terminal = await Terminal.open();
    if (TIER === "full") isInstalled = installPackages(folder);
  }, 300_000);
  afterAll(() => terminal?.close());

  for (const [system, { repeats, fill }] of Object.entries(SYSTEMS)) {
    it(`takes over what waits, is delayed, failed or repeats in ${system}, once`, async (test) => {
      onlyInFull(test);
      test.skip(!isInstalled, "the packages of bench could not be installed");
      const filled = await fill();
      const before = JSON.stringify(await filled.look());
      const to = `sqlite:${join(terminal.folder, `${system}.db`)}`;
      const line = ["import-from", system, "--from", filled.url, "--to", to, "--json", "--yes"];
      line.push("--queue", "news=letters", ...(filled.at ? ["--at", filled.at] : []));
      const run = async (...more: string[]) => {
        const { code, out, err } = await terminal.run([...line, ...more]);
        expect(code, `${err}${out}`).toBe(0);
        return JSON.parse(out) as Record<string, unknown>;
      };
      const counts = { waiting: 250, delayed: 1, failed: 1 };
      expect(await run("--dry-run")).toMatchObject({ ...counts, added: 0 });
      expect(await run()).toMatchObject({ ...counts, added: 252, there: 0, missing: [] });
      expect(await run()).toMatchObject({ ...counts, added: 0, there: 252, missing: [] });

      const hf = await connect(to);
      const queue = system === "bullmq" ? "mail" : "default";
      const one = async (type: string) => (await hf.jobs({ type, limit: 2 })).jobs;
      expect(await one("welcome")).toMatchObject([
        { queue, status: "dead", payload: { to: "ada" }, error: { message: "no such mailbox" } },
      ]);
      const [reminder] = await one("reminder");
      expect(reminder).toMatchObject({ queue, status: "queued", attempts: 0 });
      expect(Math.abs((reminder?.runAt.getTime() ?? 0) - Date.now() - HOUR)).toBeLessThan(120_000);
      expect(reminder?.meta).toMatchObject({ importedFrom: system });
      if (system === "graphile-worker") expect(reminder?.group).toBe("serial");
      const ran: unknown[] = [];
      hf.handle("news", (job) => void ran.push((job.payload as { n: number }).n));
      const worker = await hf.work({ queues: ["letters"] });
      await expect.poll(() => ran.length, { timeout: 30_000 }).toBe(250);
      expect(new Set(ran).size).toBe(250);
      await worker.stop();
      const schedules = await hf.schedules.list();
      expect(schedules.map(({ cron, timeZone, job }) => [cron, timeZone, job.type])).toEqual(
        repeats ? [["0 9 * * 1", "Europe/Berlin", "report"]] : [],
      );
      await hf.close();
      expect(JSON.stringify(await filled.look())).toBe(before);
      await filled.close();
    });
  }

  it("says what is wrong with its arguments, and where a system cannot be read", async () => {
    const run = async (...words: string[]) => terminal.run(["import-from", ...words]);
    expect(await run("sidekiq", "--from", "redis://x")).toMatchObject({ code: 2 });
    expect(await run("bullmq")).toMatchObject({ code: 2 });
    const away = await run("bullmq", "--from", "redis://127.0.0.1:1", "--to", "memory:");
    expect(away).toMatchObject({ code: 5 });
    expect(away.err).toContain("cannot be read");
  });
});
