/** Looks at the place that a URL names, without opening it as a store: nothing is made or changed there. */
import { InvalidOptionError } from "../core/errors.ts";
import { checkOptions, checkText, checkWhole, MAX_DURATION_MS } from "../core/option-checks.ts";
import { schemaState, type Finding, type StoreCheck } from "../core/store-check.ts";
import { takeParameters } from "../store-of-url.ts";

export interface CheckStoreOptions {
  /** PostgreSQL: a transaction that is open for longer is a finding. Default 5 minutes. */
  readonly longTransactionMs?: number | undefined;
}

export async function checkStore(
  url: string,
  options: CheckStoreOptions = {},
): Promise<StoreCheck> {
  checkText("the URL of a store", url);
  checkOptions("checkStore", options, ["longTransactionMs"]);
  const { longTransactionMs } = options;
  if (longTransactionMs !== undefined) {
    checkWhole("longTransactionMs", longTransactionMs, { min: 0, max: MAX_DURATION_MS });
  }
  const scheme = /^([a-z+]+):/.exec(url)?.[1];
  switch (scheme) {
    case "sqlite": {
      const file = url.replace(/^sqlite:(\/\/(?=\/|[^/]))?/, "");
      if (file === ":memory:") return inMemory("sqlite");
      const { checkSqlite } = await import("../stores/sqlite/index.ts");
      return checkSqlite({ file });
    }
    case "postgres":
    case "postgresql": {
      const { checkPostgres } = await import("../stores/postgres/index.ts");
      const { plain, own } = takeParameters(url, ["schema", "pooler"]);
      const check = await checkPostgres({
        ...{ url: plain, ...options },
        ...(own.schema !== undefined && { schema: own.schema }),
      });
      return own.pooler === "transaction"
        ? { ...check, findings: [...check.findings, POOLER] }
        : check;
    }
    case "redis":
    case "rediss": {
      const { checkRedis } = await import("../stores/redis/index.ts");
      const check = await checkRedis({ url: takeParameters(url, ["prefix"]).plain });
      const findings = check.findings.map(({ level, message }): Finding => {
        return { check: nameOf(message), level, message };
      });
      return { store: "redis", version: check.version, schema: schemaState(1, 1), findings };
    }
    case "mongodb":
    case "mongodb+srv": {
      const { checkMongodb } = await import("../stores/mongodb/index.ts");
      return checkMongodb({ url });
    }
    case "memory":
      return inMemory("memory");
    default:
      throw new InvalidOptionError(
        "a store is named by sqlite:<file>, postgres://…, redis://…, mongodb://… or memory:",
      );
  }
}

const POOLER: Finding = {
  ...{ check: "pooler", level: "note" },
  message: "behind a pooler in transaction mode workers hear of new jobs by polling only",
};

function inMemory(store: string): StoreCheck {
  const message = "jobs in memory end with their process: for tests only";
  const findings: Finding[] = [{ check: "memory", level: "warning", message }];
  return { store, version: store, schema: schemaState(1, 1), findings };
}

function nameOf(message: string): string {
  if (message.startsWith("maxmemory-policy")) return "eviction";
  return message.startsWith("maxmemory ") ? "memory bound" : "persistence";
}
