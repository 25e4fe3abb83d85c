/** System 5 over HTTP, on whatever stores: inbox and upload, manifest, handlers, deduplication, dead letters. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HARBOUR, NORTHWIND, Office, type Answer, type Env } from "./office.ts";
import { csv, lay, upload, workbook, type Cells } from "./spreadsheets.ts";

const XLSX = "/api/v1/imports/xlsx";
const AP: Cells = [
  ["Invoice No", "Supplier", "Total", "Due date", "Company ID"],
  ["S5-1", "Ann", 12.5, "2026-02-28", NORTHWIND],
  ["S5-2", "Bob", 7, "2026-03-01", HARBOUR],
  ["S5-3", "Cid", "a lot", "2026-03-01", NORTHWIND],
  ["S5-4", "Dee", 1, "2026-03-01", "nobody's"],
];
const run = promisify(execFile);

export function systemFive(env: () => Promise<Env>): void {
  let office: Office;
  beforeAll(async () => {
    office = await Office.open(await env());
  });
  afterAll(() => office?.close());

  const submit = (filename: string, more: object = {}) =>
    office.post("staff", XLSX, { filename, ...more });
  const summaryOf = async (answer: Answer) => {
    expect(answer).toMatchObject({ status: 202, body: { data: { status: "queued" } } });
    const done = await office.done({ ...answer, body: answer.body.data });
    expect(done).toMatchObject({ status: "succeeded" });
    return done.status === "succeeded" ? done.result : null;
  };
  const uploads = () => readdir(join(office.inbox, ".uploads"));

  it("looks a file of the inbox up in the manifest, and answers the printed summary", async () => {
    await lay(office, "Accounts-Payable.xlsx", await workbook(AP, "AP Data"));
    const answer = await submit("Accounts-Payable.xlsx");
    expect(answer.body.data).toMatchObject({ jobType: "import.xlsx.ap", type: "ap" });
    expect(await summaryOf(answer)).toMatchObject({
      ...{ totalRows: 4, inserted: 2, updated: 0, failed: 2 },
      errors: [
        { row: 4, reason: expect.stringContaining("amount") },
        { row: 5, reason: expect.stringContaining("there is no such company") },
      ],
    });
    const rows = await office.data.find("payables", { invoiceNumber: "S5-2" });
    expect(rows).toMatchObject([{ companyId: HARBOUR, vendor: "Bob", amount: 7 }]);
    expect(existsSync(join(office.inbox, "Accounts-Payable.xlsx"))).toBe(true);
  });

  it("imports an upload, cleans up its file, and shows the import to viewers", async () => {
    const rows: Cells = [
      ["E-mail", "Customer name", "Company ID"],
      ["Ann@Example.com", "Ann", NORTHWIND],
      ["bob@example.com", "Bob", ""],
      ["no address", "Cid", ""],
    ];
    const answer = await upload(office, "staff", { name: "Customers.csv", content: csv(rows) });
    expect(await summaryOf(answer)).toMatchObject({ inserted: 2, failed: 1, totalRows: 3 });
    await expect.poll(uploads).toEqual([]);
    const { jobId } = answer.body.data as { jobId: string };
    const view = await office.get("viewer", `/api/v1/imports/${jobId}`);
    expect(view.body.data).toMatchObject({ status: "succeeded", file: "Customers.csv" });
    const errors = await office.get("viewer", `/api/v1/imports/${jobId}/errors`);
    expect(String(errors.body)).toMatch(/^row,reason\r\n4,/);
    expect(await office.data.find("customers", { email: "ann@example.com" })).toMatchObject([
      { name: "Ann", companyId: NORTHWIND },
    ]);
  });

  it("shows the manifest as it is printed, among others", async () => {
    const { body } = await office.get("viewer", "/api/v1/imports/types");
    expect(body.data.manifest).toMatchObject({
      "Accounts-Payable.xlsx": { type: "ap", sheetName: "AP Data" },
      "Budget-Forecast.xlsx": { type: "budgetForecast", sheetName: "Budget" },
    });
    expect(body.data.types.toSorted()).toEqual([
      ...["ap", "ar", "budgetForecast", "customers", "transactions", "vendors"],
    ]);
    const file = new URL("../../apps/backoffice/config/import-manifest.json", import.meta.url);
    const written = JSON.parse(await readFile(fileURLToPath(file), "utf8")) as unknown;
    expect(body.data.manifest).toEqual(written);
  });

  it("knows a row by the key of its handler: the second file updates the first", async () => {
    const budget = (amount: number): Cells => [
      ["Fiscal year", "Category", "Dept", "Budget"],
      [2031, "rent", "hq", amount],
      [2031, "rent", "shop", 5],
    ];
    const put = async (amount: number) => {
      await lay(office, "Budget-Forecast.xlsx", await workbook(budget(amount), "Budget"));
      return summaryOf(await submit("Budget-Forecast.xlsx"));
    };
    expect(await put(100)).toMatchObject({ inserted: 2, updated: 0 });
    expect(await put(120)).toMatchObject({ inserted: 0, updated: 2 });
    const rows = await office.data.find("budgets", { year: 2031 });
    expect(rows.map(({ department, budget: amount }) => [department, amount])).toEqual([
      ["hq", 120],
      ["shop", 5],
    ]);
  });

  it("answers an identical file with 409 and the job that imported it, and a dry run writes nothing", async () => {
    const rows: Cells = [
      ["Transaction No", "Date", "Amount", "Category", "Company ID"],
      ["S5-T1", "2026-05-31", 10.5, "sales", NORTHWIND],
    ];
    await lay(office, "Transactions.csv", csv(rows));
    const dry = await submit("Transactions.csv", { dryRun: true });
    expect(await summaryOf(dry)).toMatchObject({ inserted: 1, dryRun: true });
    expect(await office.data.count("transactions", { transactionId: "S5-T1" })).toBe(0);
    const first = await submit("Transactions.csv");
    expect(await summaryOf(first)).toMatchObject({ inserted: 1 });
    const second = await submit("Transactions.csv");
    expect(second).toMatchObject({ status: 409 });
    expect(JSON.stringify(second.body)).toContain(first.body.data.jobId);
    const sent = await upload(office, "staff", { name: "Transactions.csv", content: csv(rows) });
    expect(sent.status).toBe(409);
    expect(await uploads()).toEqual([]);
    // What was imported counts in the books of system 1.
    const made = await office.post("staff", `/api/companies/${NORTHWIND}/snapshots`);
    expect(await office.done(made)).toMatchObject({ status: "succeeded" });
    const books = await office.get("viewer", `/api/companies/${NORTHWIND}/transactions`);
    expect(JSON.stringify(books.body)).toContain("S5-T1");
  });

  it("has every field of a job, and the printed curl lines of monitoring answer", async () => {
    const job = { type: "import.xlsx.customers", payload: { filePath: "missing.xlsx" } };
    const made = await office.post("staff", "/api/v1/queue/enqueue", { ...job, priority: 7 });
    expect(made).toMatchObject({
      status: 201,
      body: { priority: 7, maxAttempts: 5, ...job },
    });
    for (const field of [
      "attempts",
      "availableAt",
      "lockedAt",
      "lockOwner",
      "visibilityTimeoutMs",
    ]) {
      expect(made.body).toHaveProperty(field);
    }
    const jobId = made.body._id as string;
    expect(await office.hf.waitFor(jobId, { timeoutMs: 25_000 })).toMatchObject({ status: "dead" });
    const printed = [
      `curl http://localhost:3000/api/v1/queue/${jobId}`,
      "curl http://localhost:3000/api/v1/queue?status=failed",
      "curl http://localhost:3000/api/v1/queue/dead-letter",
    ];
    const auth = `Authorization: Bearer ${await office.tokenOf("viewer")}`;
    for (const line of printed) {
      const [, ...words] = line.replace("http://localhost:3000", office.url).split(" ");
      const { stdout } = await run("curl", ["-sS", "--fail-with-body", "-H", auth, ...words]);
      const [found] = [JSON.parse(stdout) as object].flat();
      expect(found).toMatchObject({ _id: jobId, status: "failed", attempts: 1 });
    }
    const again = await office.post("staff", "/api/v1/queue/enqueue", { ...job, priority: 7 });
    expect(again.status).toBe(409);
  });

  describe("bad input", () => {
    it("is refused before there is a job, each by its own status", async () => {
      await lay(office, "Vendors.xlsx", "this is no workbook");
      await lay(office, "Customers.xlsx", await workbook([["Name"], ["Ann"]]));
      const statuses = async (bodies: readonly unknown[]) => {
        const answers: number[] = [];
        for (const body of bodies) answers.push((await office.post("staff", XLSX, body)).status);
        return answers;
      };
      const names = ["../Vendors.xlsx", "/etc/passwd", "a/b.xlsx", "..xlsx", "x.exe"];
      expect(await statuses(names.map((filename) => ({ filename })))).toEqual(names.map(() => 422));
      expect(await statuses([{ filename: "Unknown.xlsx" }])).toEqual([422]);
      expect(await statuses([{ filename: "Accounts-Receivable.xlsx" }])).toEqual([404]);
      expect(await statuses([{ filename: "Vendors.xlsx" }])).toEqual([422]);
      expect(await statuses([{ filename: "Customers.xlsx" }])).toEqual([422]);
      const shapes = [[], {}, { filename: 1 }, { filename: "" }, { file: "Vendors.xlsx" }];
      expect(await statuses(shapes)).toEqual(shapes.map(() => 422));
      const { body } = await office.get("staff", "/api/v1/queue?type=import.xlsx.vendors");
      expect(body).toEqual([]);
    });

    it("in an upload leaves no file behind: name, type, size, field, body", async () => {
      const content = csv([["email"], ["a@b.example"]]);
      const status = async (one: Parameters<typeof upload>[2]) =>
        (await upload(office, "staff", one)).status;
      expect(await status({ name: "Customers.exe", content })).toBe(422);
      expect(await status({ name: "Elsewhere.csv", content })).toBe(422);
      expect(await status({ name: "Customers.xlsx", content })).toBe(422);
      expect(await status({ name: "Customers.xlsx", content, type: "image/png" })).toBe(422);
      expect(await status({ name: "Customers.csv", content, fields: { dryRun: "so" } })).toBe(400);
      const large = Buffer.alloc(11 * 1024 * 1024, "a");
      expect(await status({ name: "Customers.csv", content: large })).toBe(413);
      const json = await office.post("staff", `${XLSX}/upload`, { file: "x" });
      expect([400, 415, 422]).toContain(json.status);
      await expect.poll(uploads).toEqual([]);
    });

    it("is a link out of the inbox, which is not followed", async () => {
      await symlink("/etc/hostname", join(office.inbox, "Transactions.xlsx"));
      expect((await submit("Transactions.xlsx")).status).toBe(422);
    });

    it("is a caller without a login, with a lower role, or of one company", async () => {
      const body = { filename: "Accounts-Payable.xlsx" };
      expect((await office.ask("POST", XLSX, { body })).status).toBe(401);
      expect((await office.ask("POST", XLSX, { body, token: "a.b.c" })).status).toBe(401);
      expect((await office.post("viewer", XLSX, body)).status).toBe(403);
      expect((await office.post("owner", XLSX, body)).status).toBe(404);
      const one = { name: "Customers.csv", content: "email\nx@y.example\n" };
      expect((await upload(office, null, one)).status).toBe(401);
      expect((await upload(office, "viewer", one)).status).toBe(403);
      expect((await upload(office, "owner", one)).status).toBe(404);
      const [job] = (await office.get("staff", "/api/v1/queue?limit=1")).body as { _id: string }[];
      expect((await office.get("owner", `/api/v1/queue/${job?._id}`)).status).toBe(404);
      expect((await office.get("owner", `/api/v1/imports/${job?._id}`)).status).toBe(404);
      expect((await office.get("owner", "/api/v1/queue/dead-letter")).body).toEqual([]);
      expect(await uploads()).toEqual([]);
    });
  });
}
