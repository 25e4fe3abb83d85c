/** Waits for a connection that stands. */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { ClientLike } from "./client-like.ts";
import { withDeadline } from "../shared/with-deadline.ts";

/** Rejects at the first try to connect that fails, or when it is late. */
export async function connected(
  client: Pick<ClientLike, "status" | "connect" | "on" | "off">,
  deadlineMs: number,
): Promise<void> {
  if (client.status === "ready") return;
  if (client.status === "end") throw unreachable("the connection to Redis is closed for good");
  let stop = (): void => {};
  const ready = new Promise<void>((resolve, reject) => {
    const done = (): void => resolve();
    const fail = (): void => reject(unreachable("Redis cannot be reached: try again"));
    client.on("ready", done);
    client.on("close", fail);
    client.on("end", fail);
    stop = () => {
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

function unreachable(message: string): Error {
  return new StoreUnavailableError(message, { mayHaveHappened: false });
}
