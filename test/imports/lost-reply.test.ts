/** Uploads whose job is stored, or not, while its reply is lost; and those that come again when a job is over. */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { defineImport, emptyTarget, openImports, type Imports } from "@holdfast/imports";
import { Holdfast, StoreUnavailableError } from "holdfast";
import { memoryStore } from "holdfast/memory";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const TYPE = "multipart/form-data; boundary=b";
const schema = { validate: (value: unknown) => ({ value: value as { email: string } }) };

let folder: string;
let hf: Holdfast;
let imports: Imports;
let rows: unknown[];
/** What the next attempt hears of the target. */
let away: Error | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-lost-"));
  rows = [];
  hf = new Holdfast({ store: memoryStore(), logger: quiet }) as Holdfast;
  const target = {
    ...emptyTarget(),
    async begin({ file }: { readonly file: string }) {
      const gone = away;
      away = null;
      if (gone) throw gone;
      const counts = { upTo: 0, totalRows: 0, inserted: 0, updated: 0, failed: 0 };
      return { file, ...counts, isFinished: false, notes: null };
    },
    async write(batch: { readonly rows: readonly { readonly values: unknown }[] }) {
      rows.push(...batch.rows.map(({ values }) => values));
      return { inserted: batch.rows.length, updated: 0, failures: [] };
    },
    finish: async () => {},
  };
  imports = await openImports(hf, {
    inbox: folder,
    types: [defineImport({ type: "people", schema, key: ["email"], target })],
    manifest: { "People.csv": { type: "people" } },
  });
});
afterEach(async () => {
  await hf.close();
  await imports.close();
  await rm(folder, { recursive: true });
});

const send = () => {
  const head = 'Content-Disposition: form-data; name="file"; filename="People.csv"';
  const body = `--b\r\n${head}\r\nContent-Type: text/csv\r\n\r\nemail\nann@example.com\n\r\n--b--\r\n`;
  return imports.receive(Readable.from([Buffer.from(body)]), TYPE);
};
const uploads = () => readdir(join(folder, ".uploads"));

/** The next job is stored or not, as it says; either way its sender hears of trouble. */
function lose({ isStored, mayHaveHappened }: Readonly<Record<string, boolean>>): void {
  const enqueue = hf.enqueue.bind(hf) as (...given: unknown[]) => Promise<unknown>;
  hf.enqueue = (async (...given: unknown[]) => {
    hf.enqueue = enqueue as typeof hf.enqueue;
    if (isStored) await enqueue(...given);
    throw new StoreUnavailableError("no answer", { mayHaveHappened: mayHaveHappened === true });
  }) as typeof hf.enqueue;
}

it("an upload whose job was stored is imported, although the reply was lost", async () => {
  lose({ isStored: true, mayHaveHappened: true });
  await expect(send()).rejects.toThrow(StoreUnavailableError);
  const [job] = (await hf.jobs({ queue: "imports" })).jobs;
  // Its sender tries again, and learns of the job.
  await expect(send()).rejects.toThrow(job!.id);
  await hf.work({ queues: ["imports"] });
  expect(await hf.waitFor(job!.id)).toMatchObject({ status: "succeeded" });
  expect(rows).toEqual([{ email: "ann@example.com" }]);
  expect(await uploads()).toEqual([]);
});

it("an upload that has no job leaves no file, if that is certain", async () => {
  lose({ isStored: false, mayHaveHappened: false });
  await expect(send()).rejects.toThrow(StoreUnavailableError);
  expect(await uploads()).toEqual([]);
});

it("who sends again what a job died of is told to retry that job, as long as its file is there", async () => {
  const { id } = await send();
  await hf.cancel(id);
  await expect(send()).rejects.toThrow(/\(cancelled\): retry that job/);
  const [name] = await uploads();
  await rm(join(folder, ".uploads", name!));
  await expect(send()).rejects.toThrow(/\(cancelled\): its file is gone, so remove that job/);
  expect(existsSync(join(folder, ".uploads", name!))).toBe(false);
  await hf.remove(id);
  expect((await send()).id).not.toBe(id);
});

it.each([
  // As a PostgreSQL is that restarts: its socket is a file.
  ["a target whose socket is gone is away", "connect"],
  // By the attempt before, which was over and woke up.
  ["a file that is removed while it is read may be done", "open"],
])("%s, and the import comes again", async (_, syscall) => {
  away = Object.assign(new Error(`ENOENT, ${syscall}`), { code: "ENOENT", syscall });
  const { id } = await send();
  const failed = new Promise<boolean>((resolve) => {
    hf.on("failed", ({ willRetry }) => resolve(willRetry));
  });
  await hf.work({ queues: ["imports"] });
  expect(await failed).toBe(true);
  expect(await hf.waitFor(id)).toMatchObject({ status: "succeeded" });
});
