import assert from "node:assert/strict";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresPlace, postgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { NotInTransactionError } from "../../core/errors.ts";
import type { Store, WithinTransaction } from "../../core/store.ts";
import { countsOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertSome, key, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { play } from "../../testing/conformance/scenario.ts";
import { FAILURE, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeOne } from "../../testing/conformance/take.ts";
import { within as chapter } from "../../testing/conformance/within.ts";
import { postgresStore, type PostgresExecutor } from "./index.ts";
import { rowOfRecord } from "./row-of-record.ts";

let place: PostgresSchema;
beforeAll(async () => void (place = await postgresSchema({ hasStillClock: true })));
afterAll(() => place.drop());

/** As a query builder does it: rows are objects, and values are what the driver makes of them. */
function executorOf(client: pg.ClientBase): PostgresExecutor {
  return (text, values) => client.query(text, values);
}

describe("within, through a function that runs a statement", () => {
  const sync = "a transaction knows whether it is still open";
  for (const [name, scenario] of Object.entries(chapter.scenarios)) {
    // Behind a function nothing tells of the end; that it is heard of soon is a test below.
    if (name === sync) continue;
    it(name, async () => {
      const plain = await postgresPlace(place);
      const hidden = {
        ...plain,
        async transaction() {
          const transaction = await plain.transaction();
          return { ...transaction, tx: executorOf(transaction.tx) };
        },
      };
      await play(scenario, hidden, { transactions: true, rewinds: false });
    });
  }
});

describe("a transaction behind a function", () => {
  let store: Store;
  let client: pg.Client;
  let inside: WithinTransaction;

  beforeEach(async () => {
    store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    client = await place.connect();
    await client.query("BEGIN");
    inside = within(executorOf(client));
  });
  afterEach(async () => {
    await client.query("ROLLBACK");
    await store.close();
    await place.clear();
  });

  function within(tx: unknown): WithinTransaction {
    const opened = store.within?.(tx);
    assert.ok(opened);
    return opened;
  }

  it("stores every text as it was given", async () => {
    const texts = [
      "",
      '"',
      "\\",
      'a,"b"\\n{}()',
      "\n\t",
      "NULL",
      "ünïcödé 🙂",
      "'; DROP TABLE x; --",
    ];
    const payload = JSON.stringify(texts);
    const job = newJob({ payload, group: "a:b", tags: ['x"y'], dedupe: key("k, {\\}") });
    const second = newJob({ meta: payload, trace: "00-1", delayMs: 5_000 });
    await inside.insert([job, second]);
    await client.query("COMMIT");
    const stored = await jobOf(store, job);
    expect(stored).toMatchObject({ payload, group: "a:b", tags: ['x"y'], dedupeKey: "k, {\\}" });
    expect((await jobOf(store, second)).meta).toBe(payload);
  });

  it("settles with all that an outcome may bring along", async () => {
    await insertSome(store, 2);
    const [first, second] = [await takeOne(store), await takeOne(store)];
    const failure = { ...FAILURE, message: 'it "broke", \\n' };
    const spawned = newJob({ dedupe: key("child") });
    const answers = await inside.settle([
      settlement(first, succeed('{"a":1}'), {
        spawn: [spawned],
        updates: { logs: ["a, b"], checkpoint: '{"row":1}' },
      }),
      settlement(second, retry(5_000, failure)),
    ]);
    expect(answers).toEqual(["settled", "settled"]);
    await client.query("COMMIT");
    expect(await jobOf(store, first)).toMatchObject({ status: "succeeded", result: '{"a":1}' });
    expect((await jobOf(store, first)).logs).toMatchObject([{ text: "a, b" }]);
    expect(await jobOf(store, second)).toMatchObject({ status: "queued", error: failure });
    expect((await jobOf(store, spawned)).status).toBe("queued");
    expect(await countsOf(store)).toMatchObject({ succeeded: 1, delayed: 1, ready: 1 });
  });

  it("opens the lines of a queue with limits as any settle does", async () => {
    const limit = { queue: QUEUE, group: null, maxActive: 10, maxActivePerGroup: 1 };
    await store.limit([limit]);
    await insertSome(store, 3, { group: "a" });
    const first = await takeOne(store);
    expect((await store.lease(leaseRequest(5))).jobs).toEqual([]);
    await inside.settle([settlement(first, retry(0))]);
    await inside.insert([newJob({ group: "b" })]);
    await client.query("COMMIT");
    expect((await store.lease(leaseRequest(5))).jobs).toHaveLength(2);
  });

  for (const end of ["COMMIT", "ROLLBACK"]) {
    it(`is known to be over soon after ${end}`, async () => {
      await inside.insert([newJob()]);
      expect(inside.isOpen()).toBe(true);
      await client.query(end);
      await expect.poll(() => inside.isOpen()).toBe(false);
    });
  }

  it("takes nothing more once it has ended, and nothing goes into the next one", async () => {
    await inside.insert([newJob()]);
    await client.query("COMMIT");
    await client.query("BEGIN");
    await expect(inside.insert([newJob()])).rejects.toThrow(NotInTransactionError);
    await client.query("COMMIT");
    expect((await countsOf(store)).ready).toBe(1);
  });

  it("is found out by its first statement where there is none, or a failed one", async () => {
    const other = await place.connect();
    await expect(within(executorOf(other)).insert([newJob()])).rejects.toThrow(/send BEGIN first/);
    await client.query("SELECT 1/0").catch(() => {});
    await expect(inside.insert([newJob()])).rejects.toThrow(/has failed: roll it back/);
  });

  it("is found out behind the errors of a query builder", async () => {
    const other = await place.connect();
    const builder: PostgresExecutor = (text, values) =>
      other.query(text, values).catch((cause: unknown) => {
        throw new Error(`Failed query: ${text}`, { cause });
      });
    await expect(within(builder).insert([newJob()])).rejects.toThrow(NotInTransactionError);
    const prisma: PostgresExecutor = (text, values) =>
      other.query(text, values).catch(({ code, message }: pg.DatabaseError) => {
        throw Object.assign(new Error("Raw query failed"), {
          code: "P2010",
          meta: { code, message },
        });
      });
    await expect(within(prisma).insert([newJob()])).rejects.toThrow(NotInTransactionError);
  });

  it("says so if the function answers no rows", async () => {
    const forgetful = within(async (text: string, values: string[]) => {
      await client.query(text, values);
    });
    await expect(forgetful.insert([newJob()])).rejects.toThrow(/answers no rows/);
  });

  it("takes rows as arrays, as objects, and with other names", async () => {
    const shapes: PostgresExecutor[] = [
      async (text, values) => (await client.query(text, values)).rows,
      (text, values) => client.query({ text, values, rowMode: "array" }),
      async (text, values) => {
        const { rows } = await client.query<{ row: string }>(text, values);
        return rows.map(({ row }) => ({ camelCased: row }));
      },
    ];
    for (const shape of shapes) await within(shape).insert([newJob()]);
    await client.query("COMMIT");
    expect((await countsOf(store)).ready).toBe(3);
  });
});

describe("rowOfRecord", () => {
  it("reads nulls, empty texts, quotes, backslashes and commas", () => {
    const record = String.raw`(1,,"","a,b","say ""hi""","c:\\d",{1,2},"{""x"",y}")`.replace(
      "{1,2}",
      '"{1,2}"',
    );
    const texts = ["1", null, "", "a,b", 'say "hi"', "c:\\d", "{1,2}", '{"x",y}'];
    expect(rowOfRecord(record)).toEqual(texts);
    expect(rowOfRecord("()")).toEqual([null]);
  });
});
