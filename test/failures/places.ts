/** Real places for jobs, which several processes reach by what can be said in JSON. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Store } from "../../packages/holdfast/src/index.ts";
import { serverUrl } from "../servers/server-desk.ts";

export const PLACES = ["sqlite", "postgres", "redis", "mongodb"] as const;
export type PlaceName = (typeof PLACES)[number];

export interface PlaceAddress {
  readonly name: PlaceName;
  readonly url: string;
}

export async function makePlace(
  name: PlaceName,
  folder: string,
): Promise<PlaceAddress & { readonly drop: () => Promise<void> }> {
  const unique = `test_${randomBytes(6).toString("hex")}`;
  switch (name) {
    case "sqlite":
      return { name, url: join(folder, "jobs.db"), drop: async () => {} };
    case "postgres": {
      const { postgresDatabase } = await import("../servers/postgres-database.ts");
      const { url, drop } = await postgresDatabase();
      return { name, url, drop };
    }
    case "redis":
      // A prefix, in place of the fragment that Redis does not have.
      return { name, url: `${await serverUrl("redis")}#${unique}`, drop: async () => {} };
    case "mongodb": {
      const url = new URL(await serverUrl("mongodb"));
      url.pathname = `/${unique}`;
      return { name, url: url.href, drop: () => dropDatabase(url.href) };
    }
  }
}

export async function openPlace({ name, url }: PlaceAddress): Promise<Store> {
  switch (name) {
    case "sqlite": {
      const { sqliteStore } = await import("../../packages/holdfast/src/stores/sqlite/index.ts");
      return sqliteStore({ file: url });
    }
    case "postgres": {
      const { postgresStore } =
        await import("../../packages/holdfast/src/stores/postgres/index.ts");
      return postgresStore({ url });
    }
    case "redis": {
      const { redisStore } = await import("../../packages/holdfast/src/stores/redis/index.ts");
      const [server = "", prefix = ""] = url.split("#");
      return redisStore({ url: server, prefix });
    }
    case "mongodb": {
      const { mongodbStore } = await import("../../packages/holdfast/src/stores/mongodb/index.ts");
      return mongodbStore({ url });
    }
  }
}

async function dropDatabase(url: string): Promise<void> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}
