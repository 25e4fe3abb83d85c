/**
 * A cluster that moves a slot sends a call on to the slot's next node, and the driver asks that node first
 * (ASKING). It takes no notice of what becomes of the question: a connection that breaks before the answer
 * leaves a rejection without a listener, which ends the process. So we listen; the call itself is told of the
 * break by its own answer.
 */
import type { ClientLike } from "./client-like.ts";
import { connectionsOf, type Connection } from "./connection.ts";

interface Asking {
  asking?: (...args: unknown[]) => unknown;
}

/** Answers how to let go of the client again. */
export function hearAsking(client: ClientLike): () => void {
  if (client.isCluster !== true) return () => {};
  for (const connection of connectionsOf(client)) hear(connection);
  const onNode = (connection: unknown): void => hear(connection as Connection);
  client.on("+node", onNode);
  return () => void client.off("+node", onNode);
}

function hear(connection: Connection): void {
  const own = connection as Connection & Asking;
  const ask = own.asking;
  if (ask === undefined || Object.hasOwn(own, "asking")) return;
  own.asking = (...args) => {
    const asked = ask.apply(own, args);
    if (asked instanceof Promise) asked.catch(() => {});
    return asked;
  };
}
