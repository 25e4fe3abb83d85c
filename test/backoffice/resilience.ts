/** A store that is away, with resilient mode on and off; and settings that cannot be. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidOptionError, StoreUnavailableError } from "holdfast";
import { describe, expect, it } from "vitest";
import { readEnv } from "../../apps/backoffice/src/config/settings.ts";
import { monthTotals } from "../../apps/backoffice/src/cfo/books.ts";
import { freePort } from "../servers/free-port.ts";
import { NORTHWIND, Office } from "./office.ts";

describe("a Redis that is away", () => {
  const away = async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-office-"));
    return {
      HOLDFAST_URL: `redis://127.0.0.1:${await freePort()}`,
      DATABASE_URL: `sqlite:${join(folder, "data.db")}`,
    };
  };

  it("stops the start", async () => {
    await expect(Office.open(await away())).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it("is no reason to stop in resilient mode: jobs run in their request", async () => {
    const office = await Office.open({ ...(await away()), QUEUE_RESILIENT_MODE: "true" });
    try {
      const path = `/api/companies/${NORTHWIND}/snapshots`;
      const made = await office.post("staff", path);
      expect(made).toMatchObject({
        status: 202,
        body: { status: "ran", outcome: { status: "succeeded", result: { months: 10 } } },
      });
      const shown = (await office.get("staff", path)).body as unknown[];
      const books = await office.data.find("transactions", { companyId: NORTHWIND });
      expect(shown).toMatchObject(monthTotals(books));
      const health = await office.get("admin", "/api/admin/queue/health");
      expect(health.body.data).toMatchObject({
        ...{ resilientMode: true, counts: { waiting: 0, active: 0 } },
      });
    } finally {
      await office.close();
    }
  });
});

describe("settings of the back office", () => {
  it("name every mistake at once, and show no password", () => {
    const read = () =>
      readEnv({
        ...{ HOLDFAST_URL: "mysql://u:hunter2@h/d", HOLDFAST_LEDGER_URL: "postgres:x" },
        ...{ DATABASE_URL: "redis://h", PORT: "70000", JWT_SECRET: "short", SMTP_URL: "http://h" },
        ...{ WORKER_CONCURRENCY: "many", WORKER_QUEUE_NAME: "a b" },
      });
    expect(read).toThrow(InvalidOptionError);
    let message = "";
    try {
      read();
    } catch (error) {
      ({ message } = error as Error);
    }
    const named = [
      ...["HOLDFAST_URL", "HOLDFAST_LEDGER_URL", "DATABASE_URL", "PORT", "JWT_SECRET", "SMTP_URL"],
      ...["WORKER_CONCURRENCY", "WORKER_QUEUE_NAME"],
    ];
    expect(named.filter((name) => !message.includes(name))).toEqual([]);
    expect(message).not.toContain("hunter2");
  });

  it("put jobs and data together unless told otherwise, and a ledger beside Redis", () => {
    const url = "postgres://h/d";
    expect(readEnv({ DATABASE_URL: url })).toMatchObject({ jobsUrl: url, dataUrl: url });
    expect(readEnv({})).toMatchObject({
      ...{ jobsUrl: "sqlite:holdfast.db", dataUrl: "sqlite:holdfast.db", port: 5000 },
      ...{ queue: "ai-cfo-jobs", concurrency: 4, retentionDays: 14 },
    });
    expect(readEnv({ HOLDFAST_URL: "redis://h" }).dataUrl).toBe("sqlite:backoffice.db");
    expect(readEnv({ HOLDFAST_URL: "redis://h", DATABASE_URL: url }).ledgerUrl).toBe(url);
  });

  it("ask for a secret where others can reach the back office", () => {
    expect(() => readEnv({ HOST: "0.0.0.0" })).toThrow(/JWT_SECRET is needed/);
  });
});
