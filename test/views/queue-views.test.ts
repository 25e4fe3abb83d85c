/** Queues shown as tables: what batteries and people read with SQL. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  Holdfast,
  InvalidOptionError,
  PermanentError,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { postgresStore } from "../../packages/holdfast/src/stores/postgres/index.ts";
import { sqliteStore, type QueueViews } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { postgresSchema } from "../servers/postgres-place.ts";

interface Place {
  store(views: QueueViews): Store;
  read(view: string): Promise<Record<string, unknown>[]>;
  run(sql: string): Promise<unknown>;
  dispose(): Promise<unknown>;
}

const PLACES: Record<string, () => Promise<Place>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-views-"));
    const file = join(folder, "jobs.db");
    const other = () => new DatabaseSync(file);
    return {
      store: (views) => sqliteStore({ file, synchronous: "normal", views }),
      read: async (view) => other().prepare(`SELECT * FROM ${view}`).all(),
      run: async (sql) => other().exec(sql),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  },
  async postgres() {
    const { pool, schema, way, drop } = await postgresSchema();
    return {
      store: (views) => postgresStore({ ...way, schema, views }),
      read: async (view) =>
        (await pool.query<Record<string, unknown>>(`SELECT * FROM "${schema}".${view}`)).rows,
      run: (sql) => pool.query(sql.replace(/(VIEW|TABLE) /, `$1 "${schema}".`)),
      dispose: drop,
    };
  },
};

const columns = {
  ...{ id: "id", status: "status", email: "payload.email", city: "payload.address.city" },
  ...{ first_tag: "payload.tags.0", contact: "result.contact", last_error: "error" },
  ...{ retry_count: "attempts", next_retry_at: "runAt", done_at: "finishedAt", whole: "payload" },
};

describe.each(Object.keys(PLACES))("a queue shown as a table on %s", (name) => {
  let place: Place;
  beforeEach(async () => {
    place = await PLACES[name]!();
  });
  afterEach(() => place.dispose());

  async function opened(views: QueueViews, work: (hf: Holdfast) => Promise<void>) {
    const said: string[] = [];
    const note = (message: string) => void said.push(message);
    const logger = { debug() {}, info() {}, warn: note, error: note };
    const hf = new Holdfast({ store: place.store(views), logger });
    await hf.info();
    await work(hf);
    await hf.close();
    return said;
  }

  it("has a row for each job of its queue, with words of the job and of its payload and result", async () => {
    const said = await opened({ crm_sync_queue: { queue: "crm", columns } }, async (hf) => {
      hf.handle("sync", ({ payload }) => {
        const { email } = payload as { email?: string };
        if (email === "bad") throw new PermanentError("no such contact");
        return { contact: 7 };
      });
      const jobs = [
        { email: "ann@example.com", address: { city: "Ulm" }, tags: ["vip", "eu"] },
        { email: "bad" },
      ];
      const receipts = await Promise.all(
        jobs.map((job) => hf.enqueue("sync", job, { queue: "crm" })),
      );
      await hf.enqueue("sync", { email: "elsewhere" }, { queue: "other" });
      await hf.enqueue("sync", { email: "later" }, { queue: "crm", delayMs: 3_600_000 });
      await hf.work({ queues: ["crm"] });
      for (const receipt of receipts) await hf.waitFor(receipt);
    });
    expect(said).toEqual([]);
    const rows = await place.read("crm_sync_queue");
    const byEmail = Object.fromEntries(rows.map((row) => [String(row.email), row]));
    expect(Object.keys(byEmail).toSorted()).toEqual(["ann@example.com", "bad", "later"]);
    expect(byEmail["ann@example.com"]).toMatchObject({
      ...{ status: "succeeded", city: "Ulm", first_tag: "vip", retry_count: 1, last_error: null },
    });
    expect(String(byEmail["ann@example.com"]!.contact)).toBe("7");
    expect(byEmail["bad"]).toMatchObject({
      status: "dead",
      last_error: "no such contact",
      city: null,
    });
    expect(byEmail["later"]).toMatchObject({ status: "queued", done_at: null });
    expect(new Date(byEmail["later"]!.next_retry_at as string).getTime()).toBeGreaterThan(
      Date.now(),
    );
  });

  it("no payload makes it throw", async () => {
    const payloads = [
      ...[null, 5, "text", [], [[1]], { email: null }, { email: { deep: 1 } }],
      ...[{ email: "a\u0000b" }, { "\u0000": 1 }, { email: "'; DROP TABLE x; --" }],
      ...[{ address: "no object" }, { tags: { 0: "x" } }, { email: "\u{1F600}".repeat(100) }],
    ];
    await opened({ crm: { queue: "crm", columns } }, async (hf) => {
      for (const payload of payloads) {
        await hf.enqueue("sync", payload, { queue: "crm" }).catch(() => {});
      }
    });
    const rows = await place.read("crm");
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.every((row) => row.status === "queued")).toBe(true);
  });

  it("follows its definition when that changes, and is written only then", async () => {
    const nothing = async () => {};
    await opened({ crm: { queue: "crm", columns: { id: "id" } } }, nothing);
    await opened({ crm: { queue: "holdfast.crm", columns: { state: "status" } } }, async (hf) => {
      await hf.enqueue("sync", null, { queue: "holdfast.crm" });
    });
    expect(await place.read("crm")).toEqual([{ state: "queued" }]);
    const views = { crm: { queue: "holdfast.crm", columns: { state: "status" } } };
    const [one, two] = await Promise.all([opened(views, nothing), opened(views, nothing)]);
    expect([...one, ...two]).toEqual([]);
  });

  it("leaves alone what an application has under the name, and says so", async () => {
    await opened({}, async () => {});
    await place.run("CREATE TABLE crm (mine integer)");
    const said = await opened({ crm: { queue: "crm", columns: { id: "id" } } }, async () => {});
    expect(said.join()).toMatch(/crm is not a view of a queue/);
    expect(await place.read("crm")).toEqual([]);
  });

  it("a view that could not be one is refused before anything is opened", () => {
    const refused = (views: unknown, message: RegExp) => {
      expect(() => place.store(views as QueueViews)).toThrow(InvalidOptionError);
      expect(() => place.store(views as QueueViews)).toThrow(message);
    };
    refused({ "x; DROP TABLE y": { queue: "q", columns: { id: "id" } } }, /lower case/);
    refused({ holdfast_job: { queue: "q", columns: { id: "id" } } }, /holdfast_/);
    refused({ v: { queue: "q", columns: { "a b": "id" } } }, /column/);
    refused({ v: { queue: "q", columns: { a: "statu" } } }, /did you mean "status"/);
    refused({ v: { queue: "q", columns: { a: "status.x" } } }, /payload\.email/);
    refused({ v: { queue: "q", columns: { a: "payload.'x" } } }, /payload\.email/);
    refused({ v: { queue: "q", columns: {} } }, /1 to 50/);
    refused({ v: { queue: "q", colums: {} } }, /columns/);
    refused([], /views/);
  });
});
