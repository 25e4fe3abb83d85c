/** Imports over HTTP: files of the inbox and uploads, each bad one by its own answer. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeXlsx } from "hucre";
import { importTypes, openImports, sqliteTarget, type Imports } from "@holdfast/imports";
import { importsMount } from "@holdfast/imports/server";
import { createServer, type HoldfastServer } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { onlyInFull } from "../runner/tier.ts";

const TOKEN = "an-admin-token-for-tests-only";
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const AP = [
  ["Invoice No", "Supplier", "Total", "Due date"],
  ["A-1", "Ann", 12.5, "2026-02-28"],
  ["A-2", "Bob", 7, "2026-03-01"],
  ["A-3", "Cid", "a lot", "2026-03-01"],
];

let folder: string;
let inbox: string;
let db: DatabaseSync;
let hf: Holdfast;
let imports: Imports;
let server: HoldfastServer;
let url: string;

async function workbook(rows: readonly (readonly (string | number)[])[], name = "AP Data") {
  return Buffer.from(await writeXlsx({ sheets: [{ name, rows: rows as never }] }));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-imports-"));
  inbox = join(folder, "inbox");
  await mkdir(inbox);
  const manifest = join(folder, "import-manifest.json");
  const entry = { type: "ap", sheetName: "AP Data" };
  await writeFile(
    manifest,
    JSON.stringify({
      ...{ "Accounts-Payable.xlsx": entry, "Again.xlsx": entry, "Link.xlsx": entry },
      ...{ "Missing.xlsx": entry, "Customers.csv": { type: "customers" } },
    }),
  );
  const file = join(folder, "app.db");
  db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE ap ("invoiceNumber" PRIMARY KEY, vendor, amount, "dueDate");
    CREATE TABLE customers (email PRIMARY KEY, name)`);
  const quiet = () => {};
  hf = new Holdfast({
    store: sqliteStore({ file: join(folder, "jobs.db"), synchronous: "normal" }),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  }) as Holdfast;
  imports = await openImports(hf, {
    ...{ inbox, manifest },
    types: [
      importTypes.ap({ target: sqliteTarget({ file, table: "ap" }) }),
      importTypes.customers({ target: sqliteTarget({ file, table: "customers" }) }),
    ],
  });
  server = createServer(hf, {
    ...{ auth: { adminToken: TOKEN }, checkAnswers: true, mounts: [importsMount(imports)] },
  });
  ({ url } = await server.listen({ port: 0 }));
  await hf.work({ queues: ["imports"], concurrency: 2, pollMs: 50 });
});

afterAll(async () => {
  await server?.close();
  await hf?.close();
  await imports?.close();
  db?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
  readonly json: any;
}

async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(`${url}/api/v1/imports${path}`, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, ...(init.headers as object) },
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: answer.status, text, json: isJson ? (JSON.parse(text) as unknown) : null };
}

const submit = (body: object) =>
  call("/xlsx", {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify(body),
  });

function upload(content: Uint8Array | string, name: string, type = XLSX, more: object = {}) {
  const form = new FormData();
  form.set("file", new File([content as string], name, { type }));
  for (const [field, value] of Object.entries(more)) form.append(field, value as string);
  return call("/xlsx/upload", { method: "POST", body: form });
}

const uploads = () => readdir(join(inbox, ".uploads"));

async function ended(answer: Answer) {
  expect(answer.status, answer.text).toBe(202);
  const id = String(answer.json.data.jobId);
  const job = await hf.waitFor(id, { timeoutMs: 20_000 });
  expect(job, JSON.stringify(job)).toMatchObject({ status: "succeeded" });
  return (await call(`/${id}`)).json.data;
}

describe("a file", () => {
  it("of the inbox is imported once: 202, then 409 with the job", async () => {
    await writeFile(join(inbox, "Accounts-Payable.xlsx"), await workbook(AP));
    const first = await submit({ filename: "Accounts-Payable.xlsx" });
    const view = await ended(first);
    expect(first.json.data).toMatchObject({ type: "ap", jobType: "import.xlsx.ap" });
    expect(view.summary).toMatchObject({ totalRows: 3, inserted: 2, updated: 0, failed: 1 });
    expect(view.summary.errors).toEqual([{ row: 4, reason: "amount: is no number" }]);
    const again = await submit({ filename: "Accounts-Payable.xlsx" });
    expect(again.status).toBe(409);
    expect(again.json.error).toMatchObject({ code: "duplicate_import", jobId: view.id });
    expect(existsSync(join(inbox, "Accounts-Payable.xlsx"))).toBe(true);
    expect(
      db
        .prepare("SELECT * FROM ap ORDER BY 1")
        .all()
        .map((row) => ({ ...row })),
    ).toEqual([
      { invoiceNumber: "A-1", vendor: "Ann", amount: 12.5, dueDate: "2026-02-28" },
      { invoiceNumber: "A-2", vendor: "Bob", amount: 7, dueDate: "2026-03-01" },
    ]);
    const csv = await call(`/${String(view.id)}/errors`);
    expect(csv.text).toContain("row,reason\r\n4,amount: is no number\r\n");
    expect((await call(`/${String(view.id)}/rows`)).json.data).toEqual({
      ...{ items: [{ row: 4, reason: "amount: is no number" }], total: 1 },
    });
  });

  it("that is uploaded is imported, and removed after that; the same under another name is 409", async () => {
    const content = await workbook([AP[0]!, ["B-1", "=1+1", 1, ""], ["A-1", "Ann", 13, ""]]);
    const view = await ended(await upload(content, "Accounts-Payable.xlsx"));
    expect(view.summary).toMatchObject({ totalRows: 2, inserted: 1, updated: 1, failed: 0 });
    expect(view).toMatchObject({ file: "Accounts-Payable.xlsx", status: "succeeded" });
    expect(await uploads()).toEqual([]);
    expect((await upload(content, "Again.xlsx")).status).toBe(409);
    expect(await uploads()).toEqual([]);
  });

  it("that is uploaded for a dry run writes nothing, and is removed, too", async () => {
    const csv = "email,name\nann@example.com,Ann\nno address,Bob\n";
    const dry = await ended(await upload(csv, "Customers.csv", "text/csv", { dryRun: "true" }));
    expect(dry.summary).toMatchObject({ dryRun: true, totalRows: 2, inserted: 1, failed: 1 });
    expect(db.prepare("SELECT count(*) AS n FROM customers").get()).toEqual({ n: 0 });
    await expect.poll(uploads).toEqual([]);
    const real = await ended(await upload(csv, "Customers.csv", "text/csv"));
    expect(real.summary).toMatchObject({ dryRun: false, inserted: 1, failed: 1 });
  });

  it("is listed, and what can be imported is told", async () => {
    const { json } = await call("?limit=2");
    expect(json.data.items).toHaveLength(2);
    const short = await call("?errors=false");
    for (const { summary } of short.json.data.items) {
      expect(summary).toMatchObject({ errors: [], warnings: [] });
    }
    expect(short.json.data.items).toContainEqual(
      expect.objectContaining({ summary: expect.objectContaining({ failed: 1 }) }),
    );
    const types = await call("/types");
    expect(types.json.data).toMatchObject({ types: ["ap", "customers"], problem: null });
    expect((await call("/none")).status).toBe(404);
    expect((await call("/none/errors")).status).toBe(404);
  });
});

describe("what is wrong is answered before there is a job", () => {
  let before: number;
  beforeAll(async () => {
    before = (await imports.list({ limit: 200 })).imports.length;
  });
  afterAll(async () => {
    expect((await imports.list({ limit: 200 })).imports).toHaveLength(before);
    expect(await uploads()).toEqual([]);
  });

  it.each([
    ["../secret.xlsx", 422, "bad-name"],
    ["a/b.xlsx", 422, "bad-name"],
    ["..\\x.xlsx", 422, "bad-name"],
    ["a\0.xlsx", 422, "bad-name"],
    ["Old.xls", 422, "wrong-extension"],
    ["Macros.xlsm", 422, "wrong-extension"],
    ["Unknown.xlsx", 422, "not-in-manifest"],
    ["Missing.xlsx", 404, "missing-file"],
  ])("a file of the inbox that is called %j", async (filename, status, reason) => {
    const { status: answered, json } = await submit({ filename });
    expect([answered, json.error.reason]).toEqual([status, reason]);
  });

  it("a symbolic link in the inbox", async () => {
    await writeFile(join(folder, "secret.xlsx"), await workbook(AP));
    await symlink(join(folder, "secret.xlsx"), join(inbox, "Link.xlsx"));
    const { status, json } = await submit({ filename: "Link.xlsx" });
    expect([status, json.error.reason]).toEqual([422, "symbolic-link"]);
  });

  it.each<[string, () => Promise<Answer>, number, string]>([
    [
      "a name that is not listed",
      async () => upload(await workbook(AP), "x.xlsx"),
      422,
      "not-in-manifest",
    ],
    ["a path for a name", async () => upload(await workbook(AP), "../Again.xlsx"), 422, "bad-name"],
    ["text that is called .xlsx", () => upload("a,b\n1,2\n", "Again.xlsx"), 422, "wrong-type"],
    ["an image", () => upload("x", "Again.xlsx", "image/png"), 422, "wrong-type"],
    ["a damaged zip", () => upload("PK\u0003\u0004 and no more", "Again.xlsx"), 422, "damaged"],
    [
      "another sheet",
      async () => upload(await workbook(AP, "Other"), "Again.xlsx"),
      422,
      "missing-sheet",
    ],
    [
      "no header of the key",
      async () =>
        upload(
          await workbook([
            ["Vendor", "Total"],
            ["x", 1],
          ]),
          "Again.xlsx",
        ),
      422,
      "missing-header",
    ],
    [
      "two headers of one field",
      async () =>
        upload(
          await workbook([
            ["Invoice No", "Invoice #"],
            ["x", 1],
          ]),
          "Again.xlsx",
        ),
      422,
      "doubled-header",
    ],
    ["11 MB", () => upload(Buffer.alloc(11 * 1024 * 1024), "Again.xlsx"), 413, "too-large"],
    ["an empty file", () => upload("", "Again.xlsx"), 400, "multipart"],
    [
      "an unknown field",
      async () => upload(await workbook(AP), "Again.xlsx", XLSX, { colour: "red" }),
      400,
      "multipart",
    ],
    [
      "no file",
      () => call("/xlsx/upload", { method: "POST", body: new FormData() }),
      400,
      "multipart",
    ],
    ["no form", () => call("/xlsx/upload", { method: "POST", body: "x" }), 400, "multipart"],
  ])("an upload of %s", async (_name, send, status, reason) => {
    const { status: answered, json, text } = await send();
    expect([answered, json?.error.reason], text).toEqual([status, reason]);
  });

  it("two files, or a thousand fields", async () => {
    const two = new FormData();
    for (const name of ["file", "file2"])
      two.set(name, new File(["x"], "Customers.csv", { type: "text/csv" }));
    expect((await call("/xlsx/upload", { method: "POST", body: two })).status).toBe(400);
    const many = new FormData();
    for (let n = 0; n < 1_000; n += 1) many.set(`field${n}`, "x");
    expect((await call("/xlsx/upload", { method: "POST", body: many })).status).toBe(400);
  });

  it("a connection that is cut in the middle leaves no file", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v1/imports/xlsx/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n`;
    const part = `--b\r\nContent-Disposition: form-data; name="file"; filename="Again.xlsx"\r\nContent-Type: ${XLSX}\r\n\r\n`;
    socket.write(head + part);
    socket.write(Buffer.alloc(1_000_000, 1));
    await expect.poll(async () => (await uploads()).length).toBe(1);
    socket.destroy();
    await expect.poll(uploads).toEqual([]);
  });
});

it("viewers look, operators import, others see nothing", async () => {
  const make = async (body: object) => {
    const answer = await fetch(`${url}/api/v1/tokens`, {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    });
    return ((await answer.json()) as { data: { secret: string } }).data.secret;
  };
  const as = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
  const viewer = as(await make({ role: "viewer", name: "v" }));
  const elsewhere = as(await make({ role: "operator", name: "o", queues: ["mail"] }));
  expect((await call("", viewer)).status).toBe(200);
  const write = { method: "POST", body: new FormData() };
  expect((await call("/xlsx/upload", { ...write, ...viewer })).status).toBe(403);
  expect((await call("", elsewhere)).status).toBe(404);
  const mountsFor = async (about: { readonly headers: Record<string, string> }) => {
    const answer = await fetch(`${url}/api/v1/me`, about);
    return ((await answer.json()) as { data: { mounts: string[] } }).data.mounts;
  };
  expect(await mountsFor(viewer)).toEqual(["imports"]);
  expect(await mountsFor(elsewhere)).toEqual([]);
  expect((await call("/xlsx/upload", { ...write, ...elsewhere })).status).toBe(404);
  expect((await call("", { headers: { authorization: "" } })).status).toBe(401);
});

describe("a job that came by another way", () => {
  it.each([
    ["/etc/passwd.csv", "outside-inbox"],
    ["../secret.xlsx", "outside-inbox"],
    ["Link.xlsx", "symbolic-link"],
    ["none.xlsx", "missing-file"],
  ])("with the path %s is dead at once", async (filePath, reason) => {
    const { id } = await hf.enqueue("import.xlsx.ap", { filePath }, { queue: "imports" });
    const job = await hf.waitFor(id, { timeoutMs: 20_000 });
    const words = {
      "outside-inbox": "from the inbox only",
      "symbolic-link": "not followed",
      "missing-file": "no such file",
    };
    expect(job).toMatchObject({ status: "dead", job: { attempts: 1 } });
    expect(JSON.stringify(job)).toContain(words[reason as keyof typeof words]);
  });

  it("with a path in the inbox is imported, and a payload that is none is refused", async () => {
    const { id } = await hf.enqueue(
      ...(["import.xlsx.ap", { filePath: join(inbox, "Accounts-Payable.xlsx") }] as const),
    );
    expect(await hf.waitFor(id, { timeoutMs: 20_000 })).toMatchObject({
      result: { totalRows: 3, inserted: 0, updated: 2, failed: 1 },
    });
    await expect(hf.enqueue("import.xlsx.ap", { path: "x" })).rejects.toThrow(/filePath/);
  });

  it("is dead if its file was changed since", async () => {
    const content = await workbook([AP[0]!, ["C-1", "Ann", 1, ""]]);
    const sha256 = createHash("sha256").update(content).digest("hex");
    await writeFile(join(inbox, "changed.xlsx"), await workbook([AP[0]!, ["C-1", "Eve", 1, ""]]));
    const { id } = await hf.enqueue("import.xlsx.ap", { filePath: "changed.xlsx", sha256 });
    const job = await hf.waitFor(id, { timeoutMs: 20_000 });
    expect(JSON.stringify(job)).toContain("was changed after its job");
  });
});

it(
  "a hundred uploads at once are all taken, in bounded memory, and leave no file",
  { timeout: 180_000 },
  async (test) => {
    onlyInFull(test);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
    const filler = "x".repeat(200);
    const sent = Array.from({ length: 100 }, (_, n) => {
      const lines = Array.from({ length: 500 }, (__, at) => `u${n}-${at}@example.com,${filler}`);
      return upload(`email,name\n${lines.join("\n")}\n`, "Customers.csv", "text/csv");
    });
    const answers = await Promise.all(sent);
    clearInterval(watch);
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    for (const { json } of answers) {
      const id = String(json.data.jobId);
      expect(await hf.waitFor(id, { timeoutMs: 120_000 })).toMatchObject({
        result: { inserted: 500 },
      });
    }
    expect(await uploads()).toEqual([]);
    console.log(`a hundred uploads at once took ${Math.round((most - before) / 2 ** 20)} MB more`);
    expect(most - before).toBeLessThan(300 * 2 ** 20);
  },
);
