/** System 2's application: its handlers, its module, its configuration and its own tests as its text prints them. */
import { writeFileSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "reflect-metadata";
import type { INestApplication } from "@nestjs/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QueueService, QueueWorkerService, type JobDocument } from "@holdfast/nestjs";
import { Holdfast } from "holdfast";
import { inTier } from "../runner/tier.ts";
import { PLACES } from "./places.ts";
import { request } from "./request.ts";
import { started } from "./started.ts";
import { AppModule } from "./system-2/src/app.module.ts";
import { CustomerRepository } from "./system-2/src/customers/customer.repository.ts";
import { ImportXlsxHandler } from "./system-2/src/queue/handlers/import-xlsx.handler.ts";
import { JobType } from "./system-2/src/queue/queue.constants.ts";

const stores = inTier({ daily: ["sqlite"], full: Object.keys(PLACES) });

describe.each(stores)("system 2's application on %s", (store) => {
  let app: INestApplication;
  let hf: Holdfast;

  beforeAll(async () => {
    process.env["QUEUE_URL"] = await PLACES[store]?.();
    const { AppModule: Application } = { AppModule };
    app = await started(Application, {
      prepare: (prepared) => {
        prepared.get(QueueWorkerService).registerHandler("test.job", {
          handle: async (job: JobDocument) => ({ echo: job.payload, id: job._id }),
        });
      },
    });
    hf = app.get(Holdfast);
  });
  afterAll(() => app?.close());

  /** As long as it takes: the text waits for a poll, and nothing here is polled for. */
  const delay = async (_ms: number) => {
    const { jobs } = await hf.jobs({ limit: 200 });
    await Promise.all(jobs.map(({ id }) => hf.waitFor(id, { timeoutMs: 20_000 })));
  };

  it("should process enqueued job", async () => {
    // Enqueue job
    const response = await request(app)
      .post("/queue/enqueue")
      .send({
        type: "test.job",
        payload: { data: "test" },
      });

    const jobId = response.body._id;

    // Wait for processing
    await delay(6000);

    // Check status
    const status = await request(app).get(`/queue/${jobId}`);
    expect(status.body.status).toBe("succeeded");
    expect(status.body.result).toEqual({ echo: { data: "test" }, id: jobId });
  });

  it("takes the three settings from ConfigService", async () => {
    const queueService = app.get(QueueService);
    const job = await queueService.enqueue({
      type: JobType.SEND_EMAIL,
      payload: { to: "config@example.com" },
    });
    expect(job.maxAttempts).toBe(3);
    await hf.waitFor(job._id, { timeoutMs: 20_000 });
    const [worker] = (await hf.workers.list()).filter(({ queues }) => queues.includes("default"));
    expect(worker).toMatchObject({ leaseMs: 300_000 });
  });

  it("runs the handler of step 2 for what step 4 enqueues", async () => {
    const queueService = app.get(QueueService);
    const job = await queueService.enqueue({
      type: JobType.SEND_EMAIL,
      payload: {
        to: "user@example.com",
        subject: "Welcome",
        body: "Hello!",
      },
      maxAttempts: 5,
    });
    expect(job).toMatchObject({ type: "send.email", maxAttempts: 5, error: null });
    await hf.waitFor(job._id, { timeoutMs: 20_000 });
    const done = await queueService.getJobById(job._id);
    expect(done).toMatchObject({
      ...{ status: "succeeded", attempts: 1, result: { sent: true, messageId: "..." } },
      finishedAt: expect.any(Date),
    });
  });

  it("answers the same type and payload again with 409, and a different payload with a new job", async () => {
    const filePath = file();
    const send = (payload: object) =>
      request(app).post("/queue/enqueue").send({ type: "import.xlsx.customers", payload });
    const first = await send({ filePath });
    expect(first).toMatchObject({ status: 201, body: { status: expect.any(String) } });
    const second = await send({ filePath });
    expect(second).toMatchObject({
      status: 409,
      body: { statusCode: 409, code: "HOLDFAST_DUPLICATE_JOB", jobId: first.body._id },
    });
    const other = await send({ filePath: file() });
    expect(other.status).toBe(201);
    expect(other.body._id).not.toBe(first.body._id);
    await hf.waitFor(other.body._id as string, { timeoutMs: 20_000 });
  });

  it("retries up to maxAttempts, and then the job has failed", async () => {
    const payload = { filePath: "/no/such/file.xlsx" };
    const dto = { type: "import.xlsx.customers", payload };
    const { body } = await request(app).post("/queue/enqueue").send(dto);
    await hf.waitFor(body._id as string, { timeoutMs: 20_000 });
    const { body: failed } = await request(app).get(`/queue/${body._id}`);
    // A file that is not there is there no more in a second.
    expect(failed).toMatchObject({ status: "failed", attempts: 1 });
    expect(failed.error).toContain("ENOENT");
    const { body: list } = await request(app).get("/queue?status=failed&limit=5");
    expect(list.map(({ _id }: { _id: string }) => _id)).toContain(body._id);
  });

  it("lists by status, type and limit, newest first", async () => {
    const queueService = app.get(QueueService);
    const jobs = await queueService.getJobs("succeeded", JobType.SEND_EMAIL, 1);
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.payload).toMatchObject({ to: "user@example.com" });
    const { body } = await request(app).get("/queue?limit=many");
    expect(body).toMatchObject({ statusCode: 422, code: "HOLDFAST_INVALID_OPTION" });
    expect((await request(app).get("/queue?status=finished")).status).toBe(422);
  });

  it("hides secrets in what a controller answers, and not from programs", async () => {
    const payload = { apiToken: "t-1", name: "Ada" };
    const { body } = await request(app).post("/queue/enqueue").send({ type: "test.job", payload });
    expect(body.payload).toEqual({ apiToken: "[REDACTED]", name: "Ada" });
    const job = await app.get(QueueService).getJobById(body._id as string);
    expect(job.payload).toEqual(payload);
    expect(body).not.toHaveProperty("hf");
  });

  it("answers what is wrong with a job that is not taken", async () => {
    const post = (body: object) => request(app).post("/queue/enqueue").send(body);
    expect(await post({ payload: {} })).toMatchObject({ status: 422 });
    const misspelt = await post({ type: "test.job", maxAttemps: 3 });
    expect(misspelt.status).toBe(422);
    expect(misspelt.body.message).toContain('did you mean "maxAttempts"?');
    expect((await post({ type: "test.job", maxAttempts: 0 })).status).toBe(422);
    const gone = await request(app).get("/queue/01890000-0000-7000-8000-000000000000");
    expect(gone).toMatchObject({ status: 404, body: { code: "HOLDFAST_JOB_NOT_FOUND" } });
  });
});

describe("ImportXlsxHandler", () => {
  const handler = new ImportXlsxHandler(new CustomerRepository());

  it("should import valid customers", async () => {
    const job = {
      _id: "123",
      payload: { filePath: file() },
    } as JobDocument;

    const result = await handler.handle(job);

    expect(result.inserted).toBe(5);
    expect(result.failed).toBe(0);
  });
});

/** A new one each time. */
function file(): string {
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-nest-")), "customers.xlsx");
  writeFileSync(path, "ada\ngrace\n");
  return path;
}
