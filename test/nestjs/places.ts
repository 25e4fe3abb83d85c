/** Where the jobs of an application are: a place of its own for each test, by URL. */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";

const unique = () => `nest_${randomBytes(6).toString("hex")}`;

export const PLACES: Readonly<Record<string, () => Promise<string>>> = {
  sqlite: async () => `sqlite:${join(mkdtempSync(join(tmpdir(), "holdfast-nest-")), "jobs.db")}`,
  memory: async () => "memory:",
  postgres: async () => (await postgresDatabase()).url,
  redis: async () => `${await serverUrl("redis")}?prefix=${unique()}`,
  async mongodb() {
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/${unique()}`;
    return url.href;
  },
};
