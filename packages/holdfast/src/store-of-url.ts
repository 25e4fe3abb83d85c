/**
 * The store that a URL names. Each is loaded when it is named, so that a bundler does not chase the drivers
 * of the others. A parameter that neither the store nor its driver knows is refused: it would be
 * ignored, and the caller believes that it is set. No message shows the URL, which may hold a password.
 */
import { InvalidOptionError } from "./core/errors.ts";
import { checkOptions, refuseUnknown } from "./core/option-checks.ts";
import type { QueueViews } from "./core/queue-views.ts";
import type { Store } from "./core/store.ts";

const TAKES =
  "connect takes sqlite:<file>, postgres://…, redis://…, mongodb://… or memory: as its URL (credentials are never shown here)";

/** What `pg` and libpq know, and what hosts of PostgreSQL write into the URLs they hand out. */
const POSTGRES = [
  ...["host", "hostaddr", "port", "user", "password", "dbname", "database", "options"],
  ...["application_name", "fallback_application_name", "client_encoding", "encoding"],
  ...["ssl", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslpassword", "sslsni"],
  ...["sslnegotiation", "sslcompression", "ssl_min_protocol_version", "uselibpqcompat"],
  ...["channel_binding", "gssencmode", "krbsrvname", "target_session_attrs", "replication"],
  ...["connect_timeout", "statement_timeout", "query_timeout", "lock_timeout", "keepalives"],
  ...["idle_in_transaction_session_timeout", "keepalives_idle", "keepalives_interval"],
  ...["keepalives_count", "tcp_user_timeout", "load_balance_hosts", "binary", "max", "min"],
  ...["pgbouncer", "connection_limit", "pool_timeout", "pool_mode", "sslaccept", "workaround"],
];
/** What `ioredis` makes of a URL. `keyPrefix` is not among them: the keys of our scripts would miss it. */
const REDIS = [
  ...["db", "family", "username", "password", "name", "role", "connectionName", "protocol"],
  ...["connectTimeout", "commandTimeout", "socketTimeout", "keepAlive", "noDelay", "tls"],
];

export interface StoreOfUrlOptions {
  /** Queues as tables to read with SQL: in SQLite and PostgreSQL. The others have no SQL, and leave it out. */
  readonly views?: QueueViews | undefined;
}

export async function storeOfUrl(url: string, options: StoreOfUrlOptions = {}): Promise<Store> {
  checkOptions("storeOfUrl", options, ["views"]);
  const views = options.views === undefined ? {} : { views: options.views };
  const [, scheme, rest = ""] = /^([a-z+]+):(.*)$/s.exec(String(url)) ?? [];
  switch (scheme) {
    case "sqlite": {
      const file = withoutParameters("sqlite:", rest).replace(/^\/\/(?=\/|[^/])/, "");
      if (file === "") {
        throw new InvalidOptionError("sqlite: needs a file, for example sqlite:holdfast.db");
      }
      const { sqliteStore } = await import("./stores/sqlite/index.ts");
      return sqliteStore({ file, ...views });
    }
    case "postgres":
    case "postgresql": {
      const { postgresStore } = await import("./stores/postgres/index.ts");
      const { plain, own } = splitUrl(url, ["schema", "pooler", "viewsIn"], POSTGRES);
      return postgresStore({ url: plain, ...own, ...views });
    }
    case "redis":
    case "rediss": {
      const { redisStore } = await import("./stores/redis/index.ts");
      const { plain, own } = splitUrl(url, ["prefix"], REDIS);
      if (!/^\/?\d*$/.test(new URL(plain).pathname)) {
        throw new InvalidOptionError(
          "the path of a Redis URL is the number of a database, such as redis://host:6379/0; for a name of your own take ?prefix=",
        );
      }
      return redisStore({ url: plain, ...own });
    }
    case "mongodb":
    case "mongodb+srv": {
      const { mongodbStore } = await import("./stores/mongodb/index.ts");
      // The driver refuses what it does not know by itself, and a URL of several hosts is only its own.
      return mongodbStore({ url });
    }
    case "memory": {
      if (withoutParameters("memory:", rest) !== "") {
        throw new InvalidOptionError("memory: has no name: write it as it is");
      }
      const { memoryStore } = await import("./stores/memory/index.ts");
      return memoryStore();
    }
    default:
      throw new InvalidOptionError(TAKES);
  }
}

function withoutParameters(scheme: string, rest: string): string {
  if (!rest.includes("?")) return rest;
  throw new InvalidOptionError(
    `a URL of ${scheme} takes no parameters: make the store itself for those, for example sqliteStore({ file, synchronous })`,
  );
}

function splitUrl<Name extends string>(
  url: string,
  names: readonly Name[],
  ofDriver: readonly string[],
): { plain: string; own: Partial<Record<Name, never>> } {
  const given = Object.fromEntries(parse(url).searchParams);
  refuseUnknown("the URL of connect", given, [...names, ...ofDriver]);
  const { plain, own } = takeParameters(url, names);
  // Whether a value is one that the store takes is for the store to say.
  return { plain, own: own as Partial<Record<Name, never>> };
}

/** Takes the parameters that are for the store out of a URL: the driver would not know them. */
export function takeParameters<Name extends string>(
  url: string,
  names: readonly Name[],
): { readonly plain: string; readonly own: Readonly<Partial<Record<Name, string>>> } {
  const parsed = parse(url);
  const own: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = parsed.searchParams.get(name);
    if (value !== null) own[name] = value;
    parsed.searchParams.delete(name);
  }
  return { plain: parsed.href, own };
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    // Without the cause: it holds the URL.
    throw new InvalidOptionError(
      "the URL of the store cannot be read: is its port a number up to 65535? Special characters of user and password are written as encodeURIComponent has them",
    );
  }
}
