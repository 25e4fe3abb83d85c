/** The business's database by its URL. No message shows the URL: it may hold a password. */
import type { Data } from "./data.ts";

export const DATA_SCHEMES = ["sqlite", "postgres", "postgresql", "mongodb", "mongodb+srv"] as const;

/** Drivers are loaded where they are used: a start on SQLite waits for no other. */
export async function dataOfUrl(url: string): Promise<Data> {
  const [, scheme, rest = ""] = /^([a-z+]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case "sqlite": {
      const { SqliteData } = await import("./sqlite-data.ts");
      return new SqliteData(rest.replace(/^\/\/(?=\/|[^/])/, ""));
    }
    case "postgres":
    case "postgresql": {
      const { PostgresData } = await import("./postgres-data.ts");
      return new PostgresData(withoutOurs(url));
    }
    case "mongodb":
    case "mongodb+srv": {
      const { MongodbData } = await import("./mongodb-data.ts");
      return new MongodbData(url);
    }
    default:
      throw new Error("DATABASE_URL takes sqlite:<file>, postgres://… or mongodb://…");
  }
}

/** Where jobs and data share a URL, it may hold what only the store of the jobs knows. */
function withoutOurs(url: string): string {
  const parsed = new URL(url);
  for (const name of ["schema", "pooler", "viewsIn"]) parsed.searchParams.delete(name);
  return parsed.href;
}
