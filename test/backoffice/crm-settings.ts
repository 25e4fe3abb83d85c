/** What the environment may say of the CRM: cycles, a double instead of HubSpot, and values that cannot be. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEnv } from "../../apps/backoffice/src/config/settings.ts";
import { sharesDatabase } from "../../apps/backoffice/src/crm/shares-database.ts";
import { CrmOffice, WAIT } from "./crm-office.ts";
import { NORTHWIND, Office } from "./office.ts";

describe("the CRM of the back office", () => {
  it("works in cycles where it is told so, each of which is on record", async () => {
    const crm = await CrmOffice.open({ HUBSPOT_CYCLES: "true" });
    try {
      const { office } = crm;
      const joined = await crm.join("cycle@crm.example");
      const stats = async () => (await office.get("staff", "/api/crm/stats")).body;
      expect(await stats()).toMatchObject({ pending: 2, processing: 0 });
      const schedule = "/api/v1/schedules/hubspot.cycle";
      expect((await office.get("viewer", schedule)).body.data).toMatchObject({ everyMs: 120_000 });
      expect((await office.post("staff", `${schedule}/run`)).status).toBeLessThan(300);
      expect(await crm.ends(joined.crm)).toEqual(["succeeded", "succeeded"]);
      const runs = async () =>
        JSON.stringify((await office.get("viewer", `${schedule}/runs`)).body);
      await expect.poll(runs, WAIT).toContain("succeeded");
      expect(await stats()).toMatchObject({ pending: 0, completed: 2 });
    } finally {
      await crm.close();
    }
  });

  it("works on the shards of simulations that it is told to, and refuses one that is none", async () => {
    const shards = { SIMCRM_QUEUE_SHARDS: "3" };
    expect(() => readEnv({ ...shards, SIMCRM_SHARD_INDEX: "3" })).toThrow("from 0 to 2");
    const office = await Office.open({ ...shards, SIMCRM_SHARD_INDEX: "1" });
    try {
      const [worker] = await office.hf.workers.list();
      const queues = JSON.stringify(worker);
      expect(queues).toContain("simulation-jobs:1");
      expect(queues).toContain("simulation-control");
      expect(queues).not.toMatch(/simulation-jobs:[02]/);
    } finally {
      await office.close();
    }
  });

  it.each([
    ["together", false],
    ["apart", true],
  ])(
    "equals a member who changed during a resync or another change, jobs and data %s",
    async (_, isApart) => {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-apart-"));
      const jobs = { HOLDFAST_URL: `sqlite:${join(folder, "jobs.db")}` };
      const crm = await CrmOffice.open(isApart ? jobs : {});
      try {
        const { office } = crm;
        const { data } = office;
        const { memberId, crm: first } = await crm.join("meanwhile@crm.example");
        expect(await crm.ends(first)).toEqual(["succeeded", "succeeded"]);
        const find = data.find.bind(data);
        data.find = (async (table: "companies", ...rest: []) => {
          const rows = await find(table, ...rest);
          if (table !== "companies" || rest.length > 0) return rows;
          data.find = find;
          expect((await crm.edit(memberId, { tier: "plus" })).status).toBe(200);
          return rows;
        }) as typeof data.find;
        expect((await office.post("admin", "/api/crm/resync")).status).toBe(202);
        const idle = async () => {
          const { pending, processing, failed } = (await office.get("staff", "/api/crm/stats"))
            .body;
          return pending + processing + failed;
        };
        await expect.poll(idle, WAIT).toBe(0);
        await crm.isInStep();
        const transaction = data.transaction.bind(data);
        data.transaction = async (work) => {
          data.transaction = transaction;
          const done = await transaction(work);
          expect((await crm.edit(memberId, { tier: "premium" })).status).toBe(200);
          return done;
        };
        expect((await crm.edit(memberId, { tier: "basic" })).status).toBe(200);
        await expect.poll(idle, WAIT).toBe(0);
        expect(await data.find("members", { id: memberId })).toMatchObject([{ tier: "premium" }]);
        await crm.isInStep();
      } finally {
        await crm.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  it("is a double in the process without a token, and system 4's table is there to read", async () => {
    const office = await Office.open();
    try {
      const about = await office.get("staff", "/api/crm");
      expect(about.body).toMatchObject({ target: "double", together: true });
      const body = { email: "table@crm.example", tier: "plus" };
      const joined = await office.post("staff", `/api/companies/${NORTHWIND}/members`, body);
      for (const { jobId } of joined.body.crm as { jobId: string }[]) {
        expect(await office.done({ ...joined, body: { jobId } })).toMatchObject({
          status: "succeeded",
        });
      }
      const shown = await office.get("staff", "/api/crm/contacts/table@crm.example");
      expect(shown.body.properties).toMatchObject({ membership_tier: "plus" });
      const place = office.data.importPlace();
      const db = new DatabaseSync(place.kind === "sqlite" ? place.file : "", { readOnly: true });
      const rows = db.prepare("SELECT * FROM hubspot_sync_queue ORDER BY id").all();
      db.close();
      expect(rows).toHaveLength(2);
      expect(rows[0]).toMatchObject({
        ...{ operation: "create_contact", status: "completed", priority: 3, retry_count: 0 },
        ...{ max_retries: 5, idempotency_key: "member_creation_table@crm.example" },
      });
    } finally {
      await office.close();
    }
  });

  it("names every value that cannot be", () => {
    const env = {
      ...{ HUBSPOT_URL: "nonsense", HUBSPOT_RETRY_BASE_MS: "0", HUBSPOT_CYCLES: "yes" },
      ...{ SIMCRM_QUEUE_SHARDS: "many", SIMULATION_WATCH_MS: "1" },
    };
    for (const name of [...Object.keys(env), "HUBSPOT_TOKEN"]) {
      expect(() => readEnv(env)).toThrow(name);
    }
    expect(() => readEnv({ HUBSPOT_TOKEN: "short" })).toThrow("HUBSPOT_TOKEN");
  });

  it("commits with the change only where both are in one database", () => {
    const one = (jobsUrl: string, dataUrl: string) => sharesDatabase({ jobsUrl, dataUrl });
    expect(one("sqlite:a.db", "sqlite:./a.db")).toBe(true);
    expect(one("sqlite:a.db", "sqlite:b.db")).toBe(false);
    expect(one("postgres://u:p@h/d?schema=x", "postgresql://v@h/d")).toBe(true);
    expect(one("postgres://h/d", "postgres://h/e")).toBe(false);
    expect(one("redis://h/0", "postgres://h/0")).toBe(false);
  });
});
