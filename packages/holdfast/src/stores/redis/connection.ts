/** The single connections behind a client: its own, or those to the nodes of a cluster; and new ones beside them. */
import type { ClientLike } from "./client-like.ts";

export interface Connection extends Omit<ClientLike, "isCluster" | "duplicate"> {
  /** Missing until it first connects. */
  readonly stream?: Stream | null;
  duplicate(changed: object): Connection;
}

/** What a socket of Node.js has. */
export interface Stream {
  readonly bytesRead: number;
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** Those of a cluster come and go. */
export function connectionsOf(client: ClientLike): readonly Connection[] {
  if (client.isCluster === true) return (client as unknown as { nodes(): Connection[] }).nodes();
  return [client as unknown as Connection];
}

/** To the same server, with the same settings. It connects at once, and once: it is not made again when it breaks. */
export function connectBeside(connection: Connection): Connection {
  const beside = connection.duplicate({
    retryStrategy: null,
    lazyConnect: false,
    // It is ready when the server has answered, not sooner.
    enableReadyCheck: true,
    // Its farewell may be swallowed like everything else.
    disconnectTimeout: 1,
  });
  // Without a listener an error would end the process; that it breaks is heard by its end.
  beside.on("error", () => {});
  return beside;
}
