/**
 * What a server says of itself, and what is wrong with it for us. `findings` is for people: a store
 * refuses only what cannot work at all.
 */
import { StoreOpenError } from "../../core/errors.ts";
import { list, text } from "./reply.ts";
import type { Server } from "./server.ts";

export interface ServerFacts {
  /** `Redis 7.0.15`, `Valkey 8.0.1`. */
  readonly version: string;
  readonly isClusterNode: boolean;
  readonly evictionPolicy: string;
  /**
   * `always`, `everysec`, `no`: how it is written. `yes`: somehow. `off`: there is none. `unknown`: the server
   * does not say.
   */
  readonly appendOnly: string;
  /** Without an append-only file: are there snapshots at least? Null: the server does not say. */
  readonly hasSnapshots: boolean | null;
  readonly usedMemoryBytes: number;
  /** Null: no bound. */
  readonly maxMemoryBytes: number | null;
}

const OLDEST_MAJOR = 7;

export async function askFacts(server: Server): Promise<ServerFacts> {
  const info = parseInfo(text(await server.command("INFO")));
  const redis = info.get("redis_version") ?? "0";
  const valkey = info.get("valkey_version");
  if (Number.parseInt(redis, 10) < OLDEST_MAJOR) {
    throw new StoreOpenError(`this is Redis ${redis}: Holdfast needs 7.0 or newer`);
  }
  return {
    version: valkey === undefined ? `Redis ${redis}` : `Valkey ${valkey}`,
    isClusterNode: (info.get("redis_mode") ?? info.get("server_mode")) === "cluster",
    evictionPolicy: info.get("maxmemory_policy") ?? "unknown",
    ...(await askPersistence(server, info.get("aof_enabled"))),
    usedMemoryBytes: Number(info.get("used_memory") ?? 0),
    maxMemoryBytes: Number(info.get("maxmemory") ?? 0) || null,
  };
}

type Persistence = Pick<ServerFacts, "appendOnly" | "hasSnapshots">;

async function askPersistence(server: Server, aof: string | undefined): Promise<Persistence> {
  if (aof === "1") {
    return { appendOnly: (await askSetting(server, "appendfsync")) ?? "yes", hasSnapshots: null };
  }
  const save = await askSetting(server, "save");
  return {
    appendOnly: aof === undefined ? "unknown" : "off",
    hasSnapshots: save === null ? null : save !== "",
  };
}

/** Hosts often refuse CONFIG: then nobody can know. */
async function askSetting(server: Server, name: string): Promise<string | null> {
  try {
    const reply = list(await server.command("CONFIG", "GET", name));
    return reply.length < 2 ? null : text(reply[1]);
  } catch {
    return null;
  }
}

function parseInfo(info: string): ReadonlyMap<string, string> {
  const lines = info.split(/\r?\n/).map((line) => /^([a-z_0-9]+):(.*)$/.exec(line));
  return new Map(
    lines.flatMap((match) => (match === null ? [] : [[match[1] ?? "", match[2] ?? ""]])),
  );
}

export interface Finding {
  readonly level: "trouble" | "note";
  readonly message: string;
}

/** What an operator should know of this server. */
export function findingsOf(facts: ServerFacts): Finding[] {
  const findings: Finding[] = [];
  if (facts.evictionPolicy !== "noeviction") {
    findings.push({
      level: "trouble",
      message: `maxmemory-policy is ${facts.evictionPolicy}: Redis will delete jobs when its memory is full. Set it to noeviction`,
    });
  }
  if (facts.maxMemoryBytes === null) {
    findings.push({
      level: "note",
      message: "maxmemory is not set: Redis grows until the host stops it",
    });
  }
  findings.push({
    level: facts.appendOnly === "off" || facts.appendOnly === "unknown" ? "trouble" : "note",
    message: keptWords(facts),
  });
  return findings;
}

function keptWords({ appendOnly, hasSnapshots }: ServerFacts): string {
  switch (appendOnly) {
    case "always":
      return "appendfsync is always: what is acknowledged survives a power loss of the server";
    case "everysec":
      return "appendfsync is everysec: a power loss of the server may lose the last second";
    case "no":
      return "appendfsync is no: a power loss of the server may lose what the system had not written";
    case "yes":
      return "this server does not say how it writes its append-only file";
    case "off":
      return hasSnapshots === false
        ? "there is no append-only file and no snapshot: when the server ends, all jobs are lost. Set appendonly yes"
        : "there is no append-only file: a restart of the server goes back to its last snapshot. Set appendonly yes";
    default:
      return "this server does not say whether it keeps an append-only file: be sure that appendonly is yes";
  }
}
