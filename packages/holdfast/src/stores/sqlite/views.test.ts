import { mkdtemp, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  newFailure,
  hostileBodies,
  runOnce,
  UUID,
} from "../../../../../test/views/view-samples.ts";
import { Holdfast } from "../../index.ts";
import { sqliteStore } from "./index.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("the views", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-views-"));
    file = join(folder, "jobs.db");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function rows(sql: string): Record<string, unknown>[] {
    const database = new DatabaseSync(file);
    try {
      return database
        .prepare(sql)
        .all()
        .map((row) => ({ ...row }));
    } finally {
      database.close();
    }
  }

  it("show what failed and what is locked", async () => {
    const hf = new Holdfast({ store: sqliteStore({ file }) });
    const { failed, done } = await runOnce(hf);
    expect(rows("SELECT count(*) AS n FROM job_failures")).toEqual([{ n: 2 }]);
    const [first, last] = rows("SELECT * FROM job_failures ORDER BY attempts");
    expect(first).toMatchObject({ attempts: 1, is_final_attempt: 0, resolved_at: null });
    expect(last).toEqual({
      ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), job_id: failed, job_name: "fails" },
      ...{ queue_name: "default", company_id: UUID, attempts: 2, max_attempts: 2 },
      payload: JSON.stringify({ companyId: UUID, apiKey: "[REDACTED]" }),
      ...{ is_final_attempt: 1, failed_reason: "no", category: "unknown", resolved_at: null },
      stack_trace: expect.stringContaining("Error: no"),
      first_failed_at: expect.stringMatching(ISO),
    });
    expect(rows("SELECT * FROM job_idempotency_locks")).toEqual([
      {
        ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), job_key: "once", scope_key: "all" },
        ...{ owner: UUID, company_id: UUID, job_id: done, status: "completed" },
        payload_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
        started_at: expect.stringMatching(ISO),
        finished_at: expect.stringMatching(ISO),
      },
    ]);
    await hf.retry(failed, { by: "ann", delayMs: 60_000 });
    expect(rows("SELECT resolved_at FROM job_failures LIMIT 1")).toEqual([
      { resolved_at: expect.stringMatching(ISO) },
    ]);
    await hf.close();
  });

  it("are not thrown off by any payload", async () => {
    const store = sqliteStore({ file });
    await store.open();
    await store.ledger.append(hostileBodies().map((body, n) => newFailure(n, body)));
    await store.records.swap([
      { key: "holdfast/locks/x", expect: null, value: '{"startedAt":"soon","id":7}', ttlMs: null },
      { key: "holdfast/locks/y", expect: null, value: "not json", ttlMs: null },
    ]);
    await store.close();
    expect(rows("SELECT * FROM job_failures")).toHaveLength(hostileBodies().length);
    expect(rows("SELECT * FROM job_idempotency_locks")).toHaveLength(2);
  });

  it("never replace what an application has under these names", async () => {
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE job_failures (mine INT); INSERT INTO job_failures VALUES (7)");
    database.close();
    const store = sqliteStore({ file });
    await store.open();
    await store.close();
    expect(rows("SELECT * FROM job_failures")).toEqual([{ mine: 7 }]);
    expect(rows("SELECT * FROM job_idempotency_locks")).toEqual([]);
  });
});
