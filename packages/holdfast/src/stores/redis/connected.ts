/** Waits for a connection that stands. */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { ClientLike } from "./client-like.ts";
import { causeWords } from "../shared/place-words.ts";
import { withDeadline } from "../shared/with-deadline.ts";

/** Rejects at the first try to connect that fails, or when it is late. */
export async function connected(
  client: Pick<ClientLike, "status" | "options" | "connect" | "on" | "off">,
  deadlineMs: number,
): Promise<void> {
  if (client.status === "ready") return;
  if (client.status === "end") throw unreachable("the connection to Redis is closed for good");
  let stop = (): void => {};
  const ready = new Promise<void>((resolve, reject) => {
    const done = (): void => resolve();
    let cause: unknown;
    const note = (error: unknown): void => void (cause ??= error);
    const fail = (): void => reject(unreachable(awayWords(client, cause), cause));
    client.on("error", note);
    client.on("ready", done);
    client.on("close", fail);
    client.on("end", fail);
    stop = () => {
      client.off("error", note);
      client.off("ready", done);
      client.off("close", fail);
      client.off("end", fail);
    };
  });
  // A client that connects at its first command waits for ours.
  if (client.status === "wait") client.connect().catch(() => {});
  try {
    await withDeadline(ready, deadlineMs, () => late(deadlineMs, { mayHaveHappened: false }));
  } finally {
    stop();
  }
}

export function late(deadlineMs: number, how: { readonly mayHaveHappened: boolean }): Error {
  return new StoreUnavailableError(`Redis did not answer within ${deadlineMs} ms`, how);
}

/** Where it is, and why it does not answer: "cannot be reached" alone helps nobody. */
function awayWords({ options }: Pick<ClientLike, "options">, cause: unknown): string {
  const { host, port, path } = { ...options } as Readonly<Record<string, unknown>>;
  const at =
    typeof path === "string"
      ? ` at ${path}`
      : typeof host === "string"
        ? ` at ${host}:${String(port)}`
        : "";
  const why = cause === undefined ? "" : ` (${causeWords(cause)})`;
  return `Redis${at} cannot be reached${why}: is it running there? Try again once it is`;
}

function unreachable(message: string, cause?: unknown): Error {
  return new StoreUnavailableError(message, { cause, mayHaveHappened: false });
}
