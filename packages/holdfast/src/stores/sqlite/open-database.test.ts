import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, it } from "vitest";
import { InvalidOptionError, StoreOpenError, StoreUnavailableError } from "../../core/errors.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { sqliteStore, type SqliteStoreOptions } from "./index.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-open-"));
  // Another user must be able to look in, for the file that only its owner may write.
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true }));

/** What opening fails with. */
async function failure(options: SqliteStoreOptions): Promise<Error> {
  const store = sqliteStore(options);
  try {
    await store.open();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  await store.close();
  return assert.fail("opening must fail");
}

async function failsWith(options: SqliteStoreOptions, advice: RegExp): Promise<void> {
  const error = await failure(options);
  assert.ok(error instanceof StoreOpenError, error.message);
  assert.match(error.message, advice);
}

async function works(options: SqliteStoreOptions): Promise<void> {
  const store = sqliteStore(options);
  await store.open();
  assert.equal((await store.insert([newJob()]))[0]?.outcome, "added");
  await store.close();
}

describe("opening a SQLite database", () => {
  it("makes a file that is not there", async () => {
    await works({ file: join(folder, "new.db") });
  });

  it("says that a file is no database, and leaves it as it is", async () => {
    const file = join(folder, "notes.txt");
    const text = "Dear diary, this is not a database. ".repeat(40);
    await writeFile(file, text);
    await failsWith({ file }, /is not a SQLite database: give the path of another file/);
    assert.equal(await readFile(file, "utf8"), text);
  });

  it("says that the folder is missing", async () => {
    await failsWith({ file: join(folder, "nowhere", "jobs.db") }, /create ".*nowhere" first/);
  });

  it("says that the path is a folder", async () => {
    await mkdir(join(folder, "jobs.db"));
    await failsWith({ file: join(folder, "jobs.db") }, /is a folder: give the path of a file/);
  });

  it("says that the caller's connection is read-only", async () => {
    const file = join(folder, "jobs.db");
    await works({ file });
    const database = new DatabaseSync(file, { readOnly: true });
    await failsWith({ database }, /is read-only: give this process write permission/);
    database.close();
  });

  it("says that a file is read-only", async () => {
    const file = join(folder, "jobs.db");
    await works({ file });
    await chmod(file, 0o444);
    await chmod(folder, 0o555);
    // Root may write everywhere: then somebody else tries.
    const isRoot = process.getuid?.() === 0;
    const script = fileURLToPath(new URL("./index.ts", import.meta.url));
    const program = `
      const { sqliteStore } = await import(${JSON.stringify(script)});
      await sqliteStore({ file: ${JSON.stringify(file)} }).open().catch((error) => {
        console.log(error.code, error.message);
      });`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
    });
    assert.match(output, /^HOLDFAST_STORE_OPEN .*write permission|check the permissions/);
    await chmod(folder, 0o755);
  });

  it("says that there is no room, and works once there is", async () => {
    const database = new DatabaseSync(join(folder, "jobs.db"));
    database.exec("PRAGMA max_page_count = 10");
    await failsWith({ database }, /has no room: free disk space/);
    database.exec("PRAGMA max_page_count = 100000");
    await works({ database });
    database.close();
  });

  it("says in one sentence that Node is too old", async () => {
    const script = fileURLToPath(new URL("./index.ts", import.meta.url));
    // What an old Node does: it does not know the module.
    const program = `
      process.getBuiltinModule = () => undefined;
      const { sqliteStore } = await import(${JSON.stringify(script)});
      await sqliteStore({ file: "x.db" }).open().catch((error) => {
        console.log(error.code, error.message);
      });`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      cwd: folder,
    });
    assert.match(output, /^HOLDFAST_STORE_OPEN the SQLite store needs Node 22\.13 or newer/);
  });

  it("can be tried again after it failed", async () => {
    const store = sqliteStore({ file: join(folder, "later", "jobs.db") });
    await assert.rejects(store.open(), StoreOpenError);
    await mkdir(join(folder, "later"));
    await store.open();
    await store.close();
  });

  it("gives up on a database that stays locked, and says so", async () => {
    const file = join(folder, "jobs.db");
    const other = new DatabaseSync(file);
    other.exec("BEGIN EXCLUSIVE");
    const error = await failure({ file, busyDeadlineMs: 20 });
    assert.ok(error instanceof StoreUnavailableError);
    assert.equal(error.mayHaveHappened, false);
    other.exec("ROLLBACK");
    other.close();
    await works({ file });
  });

  it("leaves the tables of the application that shares the file alone", async () => {
    const file = join(folder, "app.db");
    const database = new DatabaseSync(file);
    database.exec(`
      CREATE TABLE job (name TEXT);
      INSERT INTO job VALUES ('ours');
      PRAGMA user_version = 7;
      PRAGMA application_id = 42`);
    await works({ file });
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const others = names.filter(({ name }) => !/^(holdfast|sqlite)_/.test(String(name)));
    assert.deepEqual(
      others.map(({ name }) => name),
      ["job"],
    );
    assert.equal(database.prepare("SELECT name FROM job").get()?.["name"], "ours");
    assert.equal(database.prepare("PRAGMA user_version").get()?.["user_version"], 7);
    assert.equal(database.prepare("PRAGMA application_id").get()?.["application_id"], 42);
    database.close();
  });

  it("keeps a database in memory to this process, and declares it", async () => {
    const store = sqliteStore({ file: ":memory:" });
    await store.open();
    const { survives, wakeups } = store.info();
    assert.deepEqual(
      [survives.processKill, survives.powerLoss, wakeups],
      [false, false, "process"],
    );
    await store.close();
  });

  it("declares what an acknowledgement survives", async () => {
    const options = { file: join(folder, "jobs.db") };
    for (const synchronous of ["full", "normal"] as const) {
      const store = sqliteStore({ ...options, synchronous });
      await store.open();
      const { survives } = store.info();
      assert.deepEqual([survives.processKill, survives.powerLoss], [true, synchronous === "full"]);
      await store.close();
    }
  });

  it("leaves the caller's connection open, and its settings as they were", async () => {
    const database = new DatabaseSync(join(folder, "jobs.db"));
    database.exec("PRAGMA busy_timeout = 1234");
    await works({ database });
    assert.equal(database.prepare("PRAGMA busy_timeout").get()?.["timeout"], 1234);
    assert.equal(database.prepare("PRAGMA journal_mode").get()?.["journal_mode"], "delete");
    database.close();
  });

  it("refuses options that make no sense", () => {
    for (const options of [
      {},
      { file: "" },
      { file: "a\0b" },
      { file: 7 },
      { database: {} },
      { file: "x", database: { prepare() {}, exec() {} } },
      { file: "x", synchronous: "off" },
      { file: "x", busyDeadlineMs: -1 },
      { file: "x", remembersMs: Number.NaN },
    ]) {
      assert.throws(
        () => sqliteStore(options as unknown as SqliteStoreOptions),
        InvalidOptionError,
        JSON.stringify(options),
      );
    }
  });
});
