/**
 * What users of the systems have in their scripts, run as it is printed there against `holdfast serve --classic`:
 * curl lines of systems 1 and 5, the test of system 2. Ports and tokens aside.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../servers/free-port.ts";
import { startCli, type RealProcess } from "../cli/real-process.ts";
import { Terminal } from "../cli/terminal.ts";

const JOBS = `
export function jobs(hf) {
  hf.define({ type: "test.job", queue: "ai-cfo-jobs", run: () => "done" });
  hf.define({
    type: "generateMonthlySnapshots",
    queue: "ai-cfo-jobs",
    retry: { maxAttempts: 1 },
    run() { throw new Error("no such month"); },
  });
}
`;
const TOKEN = "an-admin-token-of-system-1";
const COMPANY = "3f0d6a52-6a0c-4a55-9a43-0d6e4c7f9b11";

let terminal: Terminal;
let server: RealProcess;
let port: number;

beforeAll(async () => {
  terminal = await Terminal.open();
  writeFileSync(join(terminal.folder, "jobs.mjs"), JOBS);
  port = await freePort();
  const argv = ["serve", "--port", String(port), "--work", "--jobs", "./jobs.mjs", "--classic"];
  server = startCli([...argv, "--classic-anonymous", "operator"], terminal.folder, {
    ...{ HOLDFAST_ADMIN_TOKEN: TOKEN, WORKER_QUEUE_NAME: "ai-cfo-jobs", WORKER_CONCURRENCY: "4" },
    JOB_DLQ_RETENTION_DAYS: "30",
  });
  await server.wrote("serve:start");
});
afterAll(async () => {
  server?.child.kill("SIGTERM");
  expect(await server?.ended).toMatchObject({ code: 0, err: "" });
  await terminal?.close();
});

/** A line of a shell as it is printed, with this server's port and what stands in brackets filled in. */
async function shell(line: string, fill: Readonly<Record<string, string>> = {}) {
  let filled = line.replaceAll(/localhost:(5000|3000)/g, `localhost:${port}`);
  for (const [word, value] of Object.entries(fill)) filled = filled.replaceAll(word, value);
  const { stdout } = await promisify(execFile)("bash", ["-c", filled.replace("curl ", "curl -s ")]);
  // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
  return JSON.parse(stdout) as any;
}

/** As `supertest` is called. */
function request(app: string) {
  const ask = async (method: string, path: string, sent?: unknown) => {
    const headers = { "content-type": "application/json" };
    const body = sent === undefined ? {} : { body: JSON.stringify(sent), headers };
    const answer = await fetch(app + path, { method, ...body });
    // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
    return { status: answer.status, body: (await answer.json()) as any };
  };
  return {
    post: (path: string) => ({ send: (body: unknown) => ask("POST", path, body) }),
    get: (path: string) => ask("GET", path),
  };
}

async function ended(id: string): Promise<string> {
  const status = async () =>
    (await request(`http://127.0.0.1:${port}`).get(`/queue/${id}`)).body.status as string;
  await expect.poll(status, { timeout: 10_000, interval: 20 }).toMatch(/succeeded|failed/);
  return status();
}

async function failed(): Promise<string> {
  const body = { type: "generateMonthlySnapshots", payload: { companyId: COMPANY }, dedupe: false };
  const made = await request(`http://127.0.0.1:${port}`).post("/queue/enqueue").send(body);
  const id = made.body._id as string;
  expect(await ended(id)).toBe("failed");
  return id;
}

describe("system 1", () => {
  const token = { "<token>": TOKEN, "<admin-token>": TOKEN };

  it("its health line answers with its fields", async () => {
    const line = `curl -H "Authorization: Bearer <token>" http://localhost:5000/api/admin/queue/health`;
    const { success, data } = await shell(line, token);
    expect(success).toBe(true);
    expect(Object.keys(data).toSorted()).toEqual([
      ...["counts", "dlq", "failedLastHour", "oldestWaitingAgeSec", "queueName", "resilientMode"],
      "topFailedJobs",
    ]);
    expect(data).toMatchObject({ queueName: "ai-cfo-jobs", dlq: { retentionDays: 30 } });
    const smoke = `curl -H "Authorization: Bearer <admin-token>" http://localhost:5000/api/admin/queue/health`;
    expect((await shell(smoke, token)).success).toBe(true);
  });

  it("its lines list a failure and retry it", async () => {
    const jobId = await failed();
    const list = `curl -H "Authorization: Bearer <token>" \\
  "http://localhost:5000/api/admin/queue/failures?limit=10&jobName=generateMonthlySnapshots"`;
    const { data } = await shell(list, token);
    expect(data[0]).toMatchObject({ jobId, jobName: "generateMonthlySnapshots" });
    expect(data[0]).toMatchObject({ isFinalAttempt: true, companyId: COMPANY });
    const retry = `curl -X POST -H "Authorization: Bearer <token>" \\
  -H "Content-Type: application/json" \\
  -d '{"failureId":"<uuid>"}' \\
  http://localhost:5000/api/admin/queue/retry`;
    const answer = await shell(retry, { ...token, "<uuid>": data[0].id });
    expect(answer).toEqual({ success: true, data: { jobId, retried: true } });
    expect(await ended(jobId)).toBe("failed");
  });

  it("prunes", async () => {
    const line = `curl -X POST -H "Authorization: Bearer <token>" http://localhost:5000/api/admin/queue/prune`;
    expect(await shell(line, token)).toEqual({ success: true, data: { pruned: 0 } });
  });
});

describe("system 2", () => {
  it("should process enqueued job", async () => {
    const app = `http://127.0.0.1:${port}`;
    // Enqueue job
    const response = await request(app)
      .post("/queue/enqueue")
      .send({
        type: "test.job",
        payload: { data: "test" },
      });

    const jobId = response.body._id;

    // Wait for processing: six seconds there, here as long as it takes
    await ended(jobId);

    // Check status
    const status = await request(app).get(`/queue/${jobId}`);
    expect(status.body.status).toBe("succeeded");
  });
});

describe("system 5", () => {
  it("its lines show a job, the failed ones and the dead letters", async () => {
    const jobId = await failed();
    const seen = await shell("curl http://localhost:3000/api/v1/queue/{jobId}", {
      "{jobId}": jobId,
    });
    expect(seen).toMatchObject({ _id: jobId, status: "failed", error: "no such month" });
    const listed = await shell("curl http://localhost:3000/api/v1/queue?status=failed");
    const dead = await shell("curl http://localhost:3000/api/v1/queue/dead-letter");
    for (const jobs of [listed, dead]) {
      expect(jobs.map(({ _id }: { _id: string }) => _id)).toContain(jobId);
    }
  });
});
