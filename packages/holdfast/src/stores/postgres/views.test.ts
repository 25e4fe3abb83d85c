import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresDatabase } from "../../../../../test/servers/postgres-database.ts";
import {
  newFailure,
  hostileBodies,
  runOnce,
  UUID,
} from "../../../../../test/views/view-samples.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { Holdfast } from "../../index.ts";
import { storeOfUrl } from "../../store-of-url.ts";
import { postgresStore } from "./index.ts";

/** System 1's smoke checklist, as it is written. */
const SMOKE = "SELECT count(*) FROM job_failures; SELECT count(*) FROM job_idempotency_locks;";

describe("the views", () => {
  let url: string;
  let pool: pg.Pool;
  beforeEach(async () => {
    ({ url } = await postgresDatabase());
    // The user may have a schema of its own, which would come first.
    pool = new pg.Pool({ connectionString: url, options: "-c search_path=public" });
    pool.on("error", () => {});
  });
  afterEach(() => pool.end());

  const rows = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
  const typesOf = async (view: string) =>
    Object.fromEntries(
      (
        await rows(`SELECT column_name, data_type FROM information_schema.columns
          WHERE table_schema = 'holdfast' AND table_name = '${view}' ORDER BY ordinal_position`)
      ).map(({ column_name: name, data_type: type }) => [name, type]),
    );

  it("are in public for whoever asks for them in the URL", async () => {
    const place = new URL(url);
    place.searchParams.set("viewsIn", "public");
    const store = await storeOfUrl(place.href);
    await store.open();
    await store.close();
    expect(await rows("SELECT count(*)::int AS n FROM public.job_failures")).toEqual([{ n: 0 }]);
  });

  it("have system 1's columns and types", async () => {
    const store = postgresStore({ url });
    await store.open();
    await store.close();
    expect(await typesOf("job_failures")).toEqual({
      ...{ id: "uuid", job_id: "text", job_name: "text", queue_name: "text", company_id: "uuid" },
      ...{ payload: "jsonb", attempts: "integer", max_attempts: "integer" },
      ...{ is_final_attempt: "boolean", failed_reason: "text", stack_trace: "text" },
      first_failed_at: "timestamp with time zone",
      resolved_at: "timestamp with time zone",
      category: "text",
    });
    expect(await typesOf("job_idempotency_locks")).toEqual({
      ...{ id: "uuid", company_id: "uuid", job_key: "text", scope_key: "text", owner: "text" },
      ...{ status: "text", payload_hash: "text", job_id: "text" },
      started_at: "timestamp with time zone",
      finished_at: "timestamp with time zone",
    });
  });

  it("show what failed and what is locked, and the smoke checklist runs in public", async () => {
    const hf = new Holdfast({ store: postgresStore({ url, viewsIn: "public" }) });
    const { failed, done } = await runOnce(hf);
    const results = (await pool.query(SMOKE)) as unknown as pg.QueryResult[];
    expect(results.map((result) => result.rows)).toEqual([[{ count: "2" }], [{ count: "1" }]]);
    expect(await rows("SELECT * FROM job_failures ORDER BY attempts")).toMatchObject([
      { job_id: failed, attempts: 1, is_final_attempt: false, resolved_at: null },
      {
        ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), job_id: failed, job_name: "fails" },
        ...{ queue_name: "default", company_id: UUID, attempts: 2, max_attempts: 2 },
        ...{ payload: { companyId: UUID, apiKey: "[REDACTED]" }, is_final_attempt: true },
        ...{ failed_reason: "no", stack_trace: expect.stringContaining("Error: no") },
        ...{ first_failed_at: expect.any(Date), resolved_at: null, category: "unknown" },
      },
    ]);
    expect(await rows("SELECT * FROM job_idempotency_locks")).toMatchObject([
      {
        ...{ job_key: "once", scope_key: "all", owner: UUID, company_id: UUID, job_id: done },
        ...{ status: "completed", payload_hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
        ...{ started_at: expect.any(Date), finished_at: expect.any(Date) },
      },
    ]);
    await hf.retry(failed, { by: "ann", delayMs: 60_000 });
    expect(await rows("SELECT resolved_at FROM job_failures")).toMatchObject([
      { resolved_at: expect.any(Date) },
      { resolved_at: expect.any(Date) },
    ]);
    await hf.close();
  });

  it("are not thrown off by any payload", async () => {
    const store = postgresStore({ url });
    await store.open();
    await store.ledger.append(hostileBodies().map((body, n) => newFailure(n, body)));
    await store.records.swap([
      { key: "holdfast/locks/x", expect: null, value: '{"startedAt":"soon","id":7}', ttlMs: null },
      { key: "holdfast/locks/y", expect: null, value: "not json", ttlMs: null },
    ]);
    const failures = await rows("SELECT * FROM holdfast.job_failures ORDER BY job_id");
    expect(failures).toHaveLength(hostileBodies().length);
    expect(failures[0]).toMatchObject({ payload: "a\ufffdb", attempts: 1 });
    expect(failures[1]).toMatchObject({ payload: "\ufffd", attempts: 1 });
    expect(await rows("SELECT * FROM holdfast.job_idempotency_locks")).toHaveLength(2);
    await store.close();
  });

  it("never replace what an application has under these names, and say so", async () => {
    await pool.query("CREATE TABLE job_failures (mine int); INSERT INTO job_failures VALUES (7)");
    const store = postgresStore({ url, viewsIn: "public" });
    await store.open();
    expect(store.info().warnings).toEqual([expect.stringContaining("public.job_failures is not")]);
    expect(await rows("SELECT * FROM job_failures")).toEqual([{ mine: 7 }]);
    expect(await rows("SELECT * FROM job_idempotency_locks")).toEqual([]);
    await store.close();
    // Its own are not in the way of the next start.
    await pool.query("DROP TABLE job_failures");
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const next = postgresStore({ url, viewsIn: "public" });
        await next.open();
        expect(next.info().warnings).toBeUndefined();
        await next.close();
      }),
    );
  });

  it("are not shown in a schema that is closed or not there, and the store works", async () => {
    const store = postgresStore({ url, viewsIn: "elsewhere" });
    await store.open();
    expect(store.info().warnings?.[0]).toMatch(/schema elsewhere is not there.*CREATE VIEW/);
    expect(await store.now()).toBeGreaterThan(0);
    await store.close();
    expect(() => postgresStore({ url, viewsIn: "a b" })).toThrow(InvalidOptionError);
  });
});
