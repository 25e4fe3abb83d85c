/**
 * What Redis's errors mean for a caller. The first word of the server's own reply says why it refused
 * a command before doing anything: surely not done. A broken connection leaves open whether a command
 * on its way was done.
 */
import { HoldfastError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";

/** The server's own word: `NOSCRIPT`, `OOM`, `READONLY`; null if the server did not speak. */
export function codeOf(error: unknown): string | null {
  const message = error instanceof Error ? error.message : "";
  const isReply = error instanceof Error && error.name === "ReplyError";
  const [, code = null] = isReply ? (/^-?([A-Z]{2,})\b/.exec(message) ?? []) : [];
  return code;
}

const REFUSED: Readonly<Record<string, string>> = {
  MISCONF: "Redis cannot write to its disk and takes no changes: see its log",
  READONLY: "this Redis is a replica: connect to the primary",
  LOADING: "Redis is loading its data: try again",
  MASTERDOWN: "this replica has lost its primary: try again",
  CLUSTERDOWN: "the Redis cluster is down: some of its slots have no node",
  TRYAGAIN: "the Redis cluster is moving this queue to another node: try again",
  ASK: "the Redis cluster is moving this queue to another node: try again",
  MOVED: "the Redis cluster has moved this queue to another node: try again",
  BUSY: "Redis is busy with a script of another client: try again",
  NOREPLICAS: "Redis has too few replicas to take changes (min-replicas-to-write)",
  NOAUTH: "Redis asks for a password: give one in the URL",
  WRONGPASS: "Redis does not accept this user or password",
  NOPERM: "this user of Redis may not run what Holdfast needs: see docs/reference/redis-keys.md",
};

/** A script came to a key that has moved to another node: what it did before that is done. */
const NOT_ALL_HERE = /attempted to access a non local key/i;

/** What a verb throws when Redis failed. Errors of our own, and bugs, pass as they are. */
export function storeError(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  const code = codeOf(error);
  if (code === "OOM") {
    return new StoreFullError(
      "Redis has reached its maxmemory: raise it, or let workers drain; what was stored is safe",
      { cause: error },
    );
  }
  if (NOT_ALL_HERE.test(error instanceof Error ? error.message : "")) {
    return new StoreUnavailableError("the Redis cluster is moving this queue: try again", {
      cause: error,
      mayHaveHappened: true,
    });
  }
  const refusal = code === null ? undefined : REFUSED[code];
  if (refusal !== undefined) {
    return new StoreUnavailableError(refusal, { cause: error, mayHaveHappened: false });
  }
  if (code !== null || !isConnectionTrouble(error)) return error;
  return new StoreUnavailableError("the connection to Redis failed: try again", {
    cause: error,
    mayHaveHappened: !wasNeverSent(error),
  });
}

/** The driver says so when a command found no connection to go out on. */
function wasNeverSent(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  return /isn't writeable|Failed to refresh slots|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/i.test(message);
}

function isConnectionTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && /^E[A-Z_]+$/.test(code)) return true;
  const words = /connection|closed|writeable|timed? ?out|socket|cluster|max retries|AbortError/i;
  return words.test(`${error.name} ${error.message}`);
}
