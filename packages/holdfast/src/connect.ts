/**
 * A Holdfast from a URL. Stores are loaded when named, so that a bundler does not chase the drivers
 * of stores nobody uses.
 */
import { InvalidOptionError } from "./core/errors.ts";
import type { Store } from "./core/store.ts";
import type { Resilience, Settings } from "./holdfast-options.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";
import { Holdfast } from "./holdfast.ts";

/**
 * `sqlite:jobs.db`, `sqlite::memory:`, `memory:`, `postgres://user:password@host/database` (with
 * `?schema=jobs` and `&pooler=transaction` if need be), `redis://host:6379/0` (with `?prefix=jobs`),
 * `mongodb://host/database`.
 * Resolves once the store is open.
 */
export async function connect<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
>(
  url: string,
  options: Settings<Jobs> & { readonly resilient?: How | undefined } = {},
): Promise<Holdfast<Jobs, How>> {
  const store = await storeOf(url);
  const hf = new Holdfast<Jobs, How>({ ...options, store });
  await hf.info();
  return hf;
}

async function storeOf(url: string): Promise<Store> {
  const [, scheme, rest] = /^([a-z+]+):(.*)$/s.exec(String(url)) ?? [];
  switch (scheme) {
    case "sqlite": {
      const file = (rest ?? "").replace(/^\/\/(?=\/|[^/])/, "");
      if (file === "") {
        throw new InvalidOptionError("sqlite: needs a file, for example sqlite:holdfast.db");
      }
      const { sqliteStore } = await import("./stores/sqlite/index.ts");
      return sqliteStore({ file });
    }
    case "postgres":
    case "postgresql": {
      const { postgresStore } = await import("./stores/postgres/index.ts");
      const { plain, own } = splitUrl(url, ["schema", "pooler"]);
      return postgresStore({ url: plain, ...own });
    }
    case "redis":
    case "rediss": {
      const { redisStore } = await import("./stores/redis/index.ts");
      const { plain, own } = splitUrl(url, ["prefix"]);
      return redisStore({ url: plain, ...own });
    }
    case "mongodb":
    case "mongodb+srv": {
      const { mongodbStore } = await import("./stores/mongodb/index.ts");
      return mongodbStore({ url });
    }
    case "memory": {
      const { memoryStore } = await import("./stores/memory/index.ts");
      return memoryStore();
    }
    default:
      throw new InvalidOptionError(
        "connect takes sqlite:<file>, postgres://…, redis://…, mongodb://… or memory: as its URL (credentials are never shown here)",
      );
  }
}

/** Takes the parameters that are for the store out of a URL: the driver would not know them. */
function splitUrl<Name extends string>(
  url: string,
  names: readonly Name[],
): { plain: string; own: Partial<Record<Name, never>> } {
  const parsed = new URL(url);
  const own: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = parsed.searchParams.get(name);
    if (value !== null) own[name] = value;
    parsed.searchParams.delete(name);
  }
  // Whether a value is one that the store takes is for the store to say.
  return { plain: parsed.href, own: own as Partial<Record<Name, never>> };
}
