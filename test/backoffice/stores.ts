/** Where a back office keeps its jobs and data, beside a SQLite file: each call makes a new, empty place. */
import { randomBytes } from "node:crypto";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import type { Env } from "./office.ts";

const unique = () => `office_${randomBytes(6).toString("hex")}`;

export const OTHERS: Readonly<Record<string, () => Promise<Env>>> = {
  PostgreSQL: async () => ({ DATABASE_URL: (await postgresDatabase()).url }),
  async MongoDB() {
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/${unique()}`;
    return { DATABASE_URL: url.href };
  },
  async "Redis with PostgreSQL"() {
    const { url } = await postgresDatabase();
    const redis = `${await serverUrl("redis")}?prefix=${unique()}`;
    return { HOLDFAST_URL: redis, HOLDFAST_LEDGER_URL: url, DATABASE_URL: url };
  },
};
