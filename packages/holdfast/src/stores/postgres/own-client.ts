/**
 * A connection beside the pool, with the pool's own settings: for what must not wait for the pool and
 * not be missing in it. Only where the driver allows it, as `pg` does.
 */
import { withDeadline } from "../shared/with-deadline.ts";
import { AS_TEXT, type ClientLike, type PoolLike } from "./pool-like.ts";

export interface OwnClient extends ClientLike {
  on(event: string, listener: (message: never) => void): unknown;
  /** Ends it at once, whatever it is doing. */
  destroy(): void;
}

/** What a Pool of pg has beyond what we ask of any pool. */
interface OpenPool extends PoolLike {
  readonly Client?: new (options: object) => PgClient;
  readonly options?: Readonly<Record<string, unknown>>;
}

interface PgClient extends Omit<OwnClient, "destroy"> {
  connect(): Promise<void>;
  end(): Promise<void>;
  readonly connection?: { readonly stream?: { destroy(): void } };
}

export function canConnect(pool: PoolLike): boolean {
  const { Client, options } = pool as OpenPool;
  return typeof Client === "function" && typeof options === "object";
}

export async function connectBeside(pool: PoolLike, withinMs: number): Promise<OwnClient> {
  const { Client, options } = pool as OpenPool;
  if (Client === undefined || options === undefined) throw new Error("this pool makes no clients");
  // The password is hidden from those who copy the options.
  const client = new Client({ ...options, password: options["password"], keepAlive: true });
  const destroy = (): void => {
    // Without its socket, the farewell of the protocol cannot hang.
    client.connection?.stream?.destroy();
    client.end().catch(() => {});
  };
  // From the first moment on: an error that nobody hears ends the process.
  client.on("error", () => {});
  await withDeadline(client.connect(), withinMs, () => {
    destroy();
    return new Error("no connection in time");
  });
  return Object.assign(client, { destroy });
}

export async function askWithin(
  client: ClientLike,
  text: string,
  withinMs: number,
): Promise<readonly unknown[][]> {
  const asking = client.query({ text, rowMode: "array", types: AS_TEXT });
  const late = (): Error => new Error("no answer in time");
  return (await withDeadline(asking, withinMs, late)).rows;
}
