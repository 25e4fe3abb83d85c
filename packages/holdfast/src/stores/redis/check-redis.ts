/** What an operator should know of a server before it is given jobs: for a CLI, or a health page. */
import { checkOptions } from "../../core/option-checks.ts";
import { Keys } from "./keys.ts";
import { checkPlace, openServer, type RedisPlace } from "./open-server.ts";
import { findingsOf, type Finding } from "./server-facts.ts";

export interface RedisCheck {
  readonly version: string;
  readonly isCluster: boolean;
  readonly usedMemoryBytes: number;
  /** Null: no bound. */
  readonly maxMemoryBytes: number | null;
  readonly findings: readonly Finding[];
}

/** Looks and changes nothing. Throws if the server cannot be used at all. */
export async function checkRedis(
  place: RedisPlace & { readonly deadlineMs?: number },
): Promise<RedisCheck> {
  checkOptions("checkRedis", place, ["url", "client", "deadlineMs"]);
  checkPlace(place, "checkRedis");
  const { deadlineMs = 10_000 } = place;
  const settings = { keys: new Keys("hf"), deadlineMs, wait: null, now: null };
  const { server, facts, release } = await openServer({ place, ...settings });
  release();
  const { version, usedMemoryBytes, maxMemoryBytes } = facts;
  const { isCluster } = server;
  return { version, isCluster, usedMemoryBytes, maxMemoryBytes, findings: findingsOf(facts) };
}
