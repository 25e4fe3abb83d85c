/**
 * A Holdfast from a URL. Stores are loaded when named, so that a bundler does not chase the drivers
 * of stores nobody uses.
 */
import { InvalidOptionError } from "./core/errors.ts";
import type { Store } from "./core/store.ts";
import type { HoldfastOptions, Resilience } from "./engine/holdfast-options.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";
import { Holdfast } from "./holdfast.ts";

/**
 * `sqlite:jobs.db`, `sqlite::memory:`, `memory:`, `postgres://user:password@host/database`. Resolves once
 * the store is open.
 */
export async function connect<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
>(url: string, options?: Omit<HoldfastOptions<Jobs, How>, "store">): Promise<Holdfast<Jobs, How>> {
  const store = await storeOf(url);
  const hf = new Holdfast<Jobs, How>({ ...options, store } as HoldfastOptions<Jobs, How>);
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
      return postgresStore({ url });
    }
    case "memory": {
      const { memoryStore } = await import("./stores/memory/index.ts");
      return memoryStore();
    }
    default:
      throw new InvalidOptionError(
        "connect takes sqlite:<file>, postgres://… or memory: as its URL (credentials are never shown here)",
      );
  }
}
