/** System 2 over HTTP, on whatever stores: enqueue, look, list; its handlers, its own end-to-end test, its statuses. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Office, type Answer, type Env } from "./office.ts";
import { csv, workbook, type Cells } from "./spreadsheets.ts";

const PEOPLE: Cells = [
  ["Email", "Name"],
  ...Array.from({ length: 5 }, (_, n) => [`system2-${n}@example.com`, `Person ${n}`]),
];

export function systemTwo(env: () => Promise<Env>): void {
  let office: Office;
  beforeAll(async () => {
    office = await Office.open(await env());
    await mkdir(join(office.inbox, "data"), { recursive: true });
    await writeFile(join(office.inbox, "data/customers.xlsx"), await workbook(PEOPLE));
  });
  afterAll(() => office?.close());

  const enqueue = (dto: unknown) => office.post("staff", "/queue/enqueue", dto);
  const ended = async ({ body }: Answer): Promise<Answer["body"]> => {
    await office.hf.waitFor((body as { _id: string })._id, { timeoutMs: 25_000 });
    return (await office.get("viewer", `/queue/${body._id}`)).body;
  };

  it("should process enqueued job", async () => {
    const response = await enqueue({ type: "test.job", payload: { data: "test" } });
    expect(response.status).toBe(201);
    const status = await ended(response);
    expect(status).toMatchObject({
      ...{ status: "succeeded", attempts: 1, error: null },
      result: { _id: response.body._id, attempts: 1, echo: { data: "test" } },
    });
    for (const field of ["createdAt", "updatedAt", "startedAt", "finishedAt"]) {
      expect(Date.parse(status[field] as string)).toBeGreaterThan(0);
    }
  });

  it("imports customers.xlsx by the job that is printed, and refuses the same payload with 409", async () => {
    const dto = {
      type: "import.xlsx.customers",
      payload: { filePath: "./data/customers.xlsx" },
      maxAttempts: 3,
    };
    const first = await enqueue(dto);
    expect(first).toMatchObject({ status: 201, body: { status: expect.any(String) } });
    expect(await ended(first)).toMatchObject({
      ...{ status: "succeeded", maxAttempts: 3 },
      result: { totalRows: 5, inserted: 5, updated: 0, failed: 0, errors: [] },
    });
    expect(await office.data.count("customers", { email: "system2-4@example.com" })).toBe(1);
    expect(await enqueue(dto)).toMatchObject({ status: 409 });
    const { payload, ...rest } = dto;
    await writeFile(join(office.inbox, "data/different-file.csv"), csv(PEOPLE));
    const other = await enqueue({ ...rest, payload: { filePath: "./data/different-file.csv" } });
    expect(other.status).toBe(201);
    expect(other.body._id).not.toBe(first.body._id);
    expect(await ended(other)).toMatchObject({ result: { inserted: 0, updated: 5 } });
    expect(payload.filePath).toBe("./data/customers.xlsx");
  });

  it("does not take another order of keys for another payload", async () => {
    expect((await enqueue({ type: "test.job", payload: { a: 1, b: 2 } })).status).toBe(201);
    expect((await enqueue({ type: "test.job", payload: { b: 2, a: 1 } })).status).toBe(409);
    const again = { type: "test.job", payload: { b: 2, a: 1 }, dedupe: false };
    expect((await enqueue(again)).status).toBe(201);
  });

  it("sends the mail of step 4 by the handler of step 2, into the outbox", async () => {
    const made = await enqueue({
      type: "send.email",
      payload: { to: "user@example.com", subject: "Welcome", body: "Hello!" },
      maxAttempts: 5,
    });
    expect(made).toMatchObject({ status: 201, body: { maxAttempts: 5, type: "send.email" } });
    const done = await ended(made);
    // No SMTP is configured here: it is in the outbox, and says so.
    expect(done).toMatchObject({ status: "succeeded", result: { sent: false } });
    const { body } = await office.get("staff", "/api/outbox");
    expect(body).toContainEqual(
      expect.objectContaining({
        ...{ id: done.result.messageId as string, recipient: "user@example.com" },
        ...{ subject: "Welcome", body: "Hello!", via: "outbox" },
      }),
    );
  });

  it("marks permanent errors as failed at once: payload, missing file, path outside", async () => {
    const bad = [
      { type: "send.email", payload: { to: "nobody", subject: "x" } },
      { type: "import.xlsx.customers", payload: { filePath: "./data/none.xlsx" } },
      { type: "import.xlsx.customers", payload: { filePath: "../../etc/passwd.xlsx" } },
    ];
    const errors: string[] = [];
    for (const dto of bad) {
      const job = await ended(await enqueue(dto));
      expect(job).toMatchObject({ status: "failed", attempts: 1 });
      errors.push(job.error as string);
    }
    expect(errors[0]).toMatch(/look at: to, body/);
    expect(errors[1]).toMatch(/no such file/);
    expect(errors[2]).toMatch(/inbox only/);
    const failed = await office.get("viewer", "/queue?status=failed&limit=10");
    expect(failed.body).toHaveLength(bad.length);
    const mails = await office.get("viewer", "/queue?status=failed&type=send.email");
    expect(mails.body).toHaveLength(1);
    const dead = await office.get("staff", "/api/v1/queue/dead-letter");
    expect(dead.body).toHaveLength(bad.length);
  });

  it("lists by status, type and limit, newest first", async () => {
    const listed = await office.get("viewer", "/queue?status=succeeded&type=test.job&limit=2");
    const times = (listed.body as { createdAt: string; type: string }[]).map((one) => {
      expect(one.type).toBe("test.job");
      return Date.parse(one.createdAt);
    });
    expect(times).toHaveLength(2);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  describe("bad input", () => {
    it("is answered by its status, and makes no job", async () => {
      const wrong = [
        ...[{}, [], { type: "" }, { type: 7 }, { type: "test.job", maxAttempts: 0 }],
        ...[
          { type: "test.job", maxAttemps: 3 },
          { type: "x y", payload: {} },
        ],
        { type: "import.xlsx.customers", payload: { file: "a.xlsx" } },
        { type: "import.xlsx.customers", payload: "customers.xlsx" },
        { type: "import.xlsx.customers", payload: { filePath: "a.xlsx", sha256: "zz" } },
      ];
      const before = (await office.get("staff", "/queue?limit=200")).body as unknown[];
      const statuses: number[] = [];
      for (const dto of wrong) statuses.push((await enqueue(dto)).status);
      expect(statuses).toEqual(wrong.map(() => 422));
      const after = (await office.get("staff", "/queue?limit=200")).body as unknown[];
      expect(after).toHaveLength(before.length);
      for (const query of ["status=finished", "limit=many", "limit=0", "stat=failed"]) {
        expect([query, (await office.get("viewer", `/queue?${query}`)).status]).toEqual([
          ...[query, 422],
        ]);
      }
      const gone = "/queue/01890000-0000-7000-8000-000000000000";
      expect((await office.get("viewer", gone)).status).toBe(404);
      expect((await office.get("viewer", "/queue/no-id")).status).toBe(404);
    });

    it("is a caller without a login, with a lower role, or of one company", async () => {
      const dto = { type: "test.job", payload: { caller: true } };
      expect((await office.ask("POST", "/queue/enqueue", { body: dto })).status).toBe(401);
      const forged = { body: dto, token: `${await office.tokenOf("admin")}x` };
      expect((await office.ask("POST", "/queue/enqueue", forged)).status).toBe(401);
      expect((await office.ask("GET", "/queue")).status).toBe(401);
      expect((await office.post("viewer", "/queue/enqueue", dto)).status).toBe(403);
      expect((await office.post("owner", "/queue/enqueue", dto)).status).toBe(404);
      expect((await office.get("owner", "/queue")).body).toEqual([]);
    });
  });
}
