/** `npm start` as a person has it, and system 1's smoke checklist as it is printed. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { freePort } from "../servers/free-port.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";

const main = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));
const office = fileURLToPath(new URL("../../apps/backoffice", import.meta.url));
const run = promisify(execFile);
const OURS = /^(HOLDFAST_(URL|LEDGER_URL)|DATABASE_URL|PORT|HOST|JWT_SECRET|SMTP_URL)$/;

describe("npm start", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "holdfast-start-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 3 }));

  function start(argv: readonly string[], given: Readonly<Record<string, string>> = {}) {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !OURS.test(name)),
    );
    const child: ChildProcess = spawn(
      process.execPath,
      ["--conditions=@holdfast/source", main, ...argv],
      { ...{ cwd, env: { ...env, ...given }, stdio: ["ignore", "pipe", "pipe"] } },
    );
    const said = { out: "", err: "" };
    child.stdout?.on("data", (part: Buffer) => (said.out += part.toString()));
    child.stderr?.on("data", (part: Buffer) => (said.err += part.toString()));
    return { child, said, ended: once(child, "close").then(([code]) => code as number | null) };
  }

  async function welcomed() {
    const live = start(["--port", "0"]);
    await expect.poll(() => live.said.out + live.said.err, { timeout: 40_000 }).toContain("Ctrl-C");
    return live;
  }

  it("serves the back office with live work, by curl lines that work, and stops at Ctrl-C", async () => {
    const live = await welcomed();
    const lines = live.said.out.split("\n").map((line) => line.trim());
    const script = lines.filter((line) => /^(TOKEN=|curl )/.test(line));
    expect(script.length).toBeGreaterThan(3);
    const quiet = script.map((line) => line.replace(/^curl /, "curl -sS --fail-with-body "));
    const { stdout } = await run("sh", ["-ec", quiet.join("\necho\n")]);
    expect(stdout).toContain('"queueName":"ai-cfo-jobs"');
    expect(stdout).toContain('"criticality":"critical"');
    const [, url = ""] = /dashboard +(\S+)/.exec(live.said.out) ?? [];
    const [, token = ""] =
      /TOKEN ([^\s]+)/.exec((await run("sh", ["-ec", `${script[0]}\necho TOKEN $TOKEN`])).stdout) ??
      [];
    const completed = async () => {
      const answer = await fetch(`${url}api/admin/queue/health`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { data } = (await answer.json()) as { data: { counts: { completed: number } } };
      return data.counts.completed;
    };
    await expect.poll(completed, { timeout: 20_000 }).toBeGreaterThan(2);
    // npm passes on what the terminal sent already: the same Ctrl-C comes twice.
    live.child.kill("SIGINT");
    live.child.kill("SIGINT");
    expect(await live.ended).toBe(0);
    expect(live.said.out).toContain("Stopped.");
    expect(live.said.err).toBe("");
  }, 90_000);

  it("ends the simulation of an earlier start, whose CRM is gone, and begins another", async () => {
    const statuses: string[][] = [];
    for (let starts = 0; starts < 2; starts++) {
      const live = await welcomed();
      const lines = live.said.out.split("\n").map((line) => line.trim());
      const script = lines.filter((line) => /^TOKEN=|api.simulations$/.test(line));
      const { stdout } = await run("sh", [
        "-ec",
        script.join("\n").replace("curl -H", "curl -sS -H"),
      ]);
      const { simulations } = JSON.parse(stdout) as { simulations: { status: string }[] };
      statuses.push(simulations.map(({ status }) => status));
      live.child.kill("SIGINT");
      expect(await live.ended).toBe(0);
    }
    const [before = [], after = []] = statuses;
    expect(before.filter((status) => status === "running")).toHaveLength(1);
    expect(after.filter((status) => status === "running")).toHaveLength(1);
    expect(after.filter((status) => status === "aborted")).toHaveLength(
      before.filter((status) => status === "aborted").length + 1,
    );
  }, 120_000);

  it("names all bad values at once, with exit code 2", async () => {
    const live = start([], { HOLDFAST_URL: "nonsense", DATABASE_URL: "redis://h", PORT: "x" });
    expect(await live.ended).toBe(2);
    for (const name of ["HOLDFAST_URL", "DATABASE_URL", "PORT"]) {
      expect(live.said.err).toContain(name);
    }
    expect(live.said.err).not.toContain("    at ");
  }, 60_000);

  it("says that a database is away, with exit code 1 and without its password", async () => {
    const url = `postgres://u:hunter2@127.0.0.1:${await freePort()}/d`;
    const live = start([], { DATABASE_URL: url, HOLDFAST_URL: "sqlite:jobs.db", PORT: "0" });
    expect(await live.ended).toBe(1);
    expect(live.said.err).toContain("DATABASE_URL cannot be used");
    expect(live.said.err).not.toContain("hunter2");
    expect(live.said.err).not.toContain("    at ");
  }, 60_000);

  it("goes through system 1's smoke checklist on PostgreSQL", async (test) => {
    onlyInFull(test);
    const { url } = await postgresDatabase();
    const env = { ...process.env, DATABASE_URL: url };
    const npm = (script: string) => run("npm", ["run", "--silent", script], { cwd: office, env });
    expect((await npm("db:migrate")).stdout).toContain("data: ");
    const sql = "SELECT count(*) FROM job_failures; SELECT count(*) FROM job_idempotency_locks;";
    const { Client } = (await import("pg")).default;
    const client = new Client(url);
    await client.connect();
    const answers = (await client.query(sql)) as unknown as { rows: unknown[] }[];
    expect(answers.map(({ rows }) => rows)).toEqual([[{ count: "0" }], [{ count: "0" }]]);
    await client.end();
    const files = ["test/idempotencyService.test.js", "test/jobFailureService.test.js"];
    const { NODE_OPTIONS: _, ...plain } = process.env;
    const { stdout } = await run(process.execPath, ["--test", ...files], {
      cwd: office,
      env: plain,
    });
    expect(stdout).toMatch(/fail 0/);
  }, 120_000);
});
