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
  /** `always`, `everysec`, `no`, `off` (no append-only file), or `unknown`. */
  readonly appendOnly: string;
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
    appendOnly: info.get("aof_enabled") === "1" ? await askFsync(server) : "off",
    usedMemoryBytes: Number(info.get("used_memory") ?? 0),
    maxMemoryBytes: Number(info.get("maxmemory") ?? 0) || null,
  };
}

/** Hosts often refuse CONFIG: then nobody can know. */
async function askFsync(server: Server): Promise<string> {
  try {
    const reply = list(await server.command("CONFIG", "GET", "appendfsync"));
    return reply.length < 2 ? "unknown" : text(reply[1]);
  } catch {
    return "unknown";
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
    level: facts.appendOnly === "off" ? "trouble" : "note",
    message: keptWords(facts),
  });
  return findings;
}

function keptWords({ appendOnly }: ServerFacts): string {
  switch (appendOnly) {
    case "always":
      return "appendfsync is always: what is acknowledged survives a power loss of the server";
    case "everysec":
      return "appendfsync is everysec: a power loss of the server may lose the last second";
    case "no":
      return "appendfsync is no: a power loss of the server may lose what the system had not written";
    case "off":
      return "there is no append-only file: a restart of the server goes back to its last snapshot. Set appendonly yes";
    default:
      return "this server does not say how it writes its append-only file";
  }
}
