/**
 * From a URL (or the caller's own client) to a server that we can use. Whatever is wrong with the place
 * becomes one error that says what to do.
 */
import { InvalidOptionError, StoreOpenError, StoreUnavailableError } from "../../core/errors.ts";
import { isClientLike, type ClientLike } from "./client-like.ts";
import { hearAsking } from "./hear-asking.ts";
import { codeOf } from "./redis-error.ts";
import { askFacts, type ServerFacts } from "./server-facts.ts";
import { Server, type ServerOptions } from "./server.ts";

export type RedisPlace =
  /** The caller's own client of ioredis, of a server or a cluster; it stays open with the caller. */
  | { readonly client: ClientLike }
  /** `redis://user:password@host:6379/0`, also of a node of a cluster; needs the package `ioredis`. */
  | { readonly url: string };

export interface OpenServer {
  readonly server: Server;
  readonly client: ClientLike;
  readonly facts: ServerFacts;
  /** Lets go of the client, and ends it if it is our own. */
  release(): void;
}

export type OpenOptions = Omit<ServerOptions, "client"> & { readonly place: RedisPlace };

export async function openServer(options: OpenOptions): Promise<OpenServer> {
  const { place, ...settings } = options;
  if ("client" in place) return use(place.client, settings, { release: () => {} });
  const ioredis = await loadIoredis();
  const plain = ownClient(new ioredis.Redis(place.url, OWN_OPTIONS));
  const opened = await use(plain, settings, {
    release: () => plain.disconnect(),
    mayBeNode: false,
  });
  if (!opened.facts.isClusterNode) return opened;
  opened.release();
  const cluster = ownClient(
    new ioredis.Cluster([place.url], {
      enableOfflineQueue: false,
      clusterRetryStrategy: retryAfterMs,
      redisOptions: OWN_OPTIONS,
    }),
  );
  return use(cluster, settings, { release: () => cluster.disconnect() });
}

const MOST_RETRY_MS = 500;

function retryAfterMs(times: number): number {
  return Math.min(20 * 2 ** Math.min(times, 10), MOST_RETRY_MS);
}

/**
 * A call that lost its connection is ours to repeat, not the driver's: a lease that was sent twice
 * would keep jobs from everybody until it ran out. And a call goes out on a connection that stands, or
 * not at all.
 */
const OWN_OPTIONS = {
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  // Whoever waits for an answer hears that the connection broke, and not at the end of its patience.
  maxRetriesPerRequest: 0,
  retryStrategy: retryAfterMs,
  keepAlive: 10_000,
};

function ownClient(client: ClientLike): ClientLike {
  // The driver connects again by itself; without a listener an error would end the process.
  client.on("error", () => {});
  return client;
}

interface Use {
  /** May it be a client of one node of a cluster? */
  readonly mayBeNode?: boolean;
  release(): void;
}

async function use(
  client: ClientLike,
  settings: Omit<OpenOptions, "place">,
  { release, mayBeNode = true }: Use,
): Promise<OpenServer> {
  const server = new Server({ ...settings, client });
  const letGo = hearAsking(client);
  const leave = (): void => {
    letGo();
    release();
  };
  try {
    const facts = await askFacts(server);
    if (mayBeNode && facts.isClusterNode && !server.isCluster) {
      throw new StoreOpenError(
        "this client is connected to one node of a Redis cluster: give redisStore a Cluster of ioredis, or a URL",
      );
    }
    if (server.isCluster && settings.wait !== null) {
      throw new StoreOpenError("wait is not possible on a Redis cluster: leave it out");
    }
    return { server, client, facts, release: leave };
  } catch (error) {
    leave();
    throw openError(error);
  }
}

/** A password or a right that is missing is for a person to mend: trying again would hide it. */
function openError(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  const code = codeOf(error.cause);
  if (code === null || !["NOAUTH", "WRONGPASS", "NOPERM"].includes(code)) return error;
  return new StoreOpenError(error.message, { cause: error.cause });
}

type Make = new (...args: readonly unknown[]) => ClientLike;

interface IoredisModule {
  readonly Redis: Make;
  readonly Cluster: Make;
}

/** Loaded when a store is opened, so that only those who use Redis need its driver. */
async function loadIoredis(): Promise<IoredisModule> {
  const name = "ioredis";
  try {
    const module = (await import(name)) as IoredisModule & { readonly default?: IoredisModule };
    return module.Redis === undefined ? (module.default ?? module) : module;
  } catch (error) {
    throw new StoreOpenError(
      "the Redis store needs the package ioredis: run npm install ioredis, or give it a client",
      { cause: error },
    );
  }
}

export function checkPlace(place: RedisPlace, taker = "redisStore"): void {
  const given = (place as Partial<Record<"client" | "url", unknown>> | undefined | null) ?? {};
  const isOne = !("client" in given && "url" in given);
  if (isOne && ("client" in given ? isClientLike(given.client) : isUrl(given.url))) return;
  throw new InvalidOptionError(
    `${taker} takes either { url } with redis://…, or { client } with a Redis or Cluster of ioredis`,
  );
}

function isUrl(url: unknown): boolean {
  return typeof url === "string" && /^(rediss?|valkeys?):\/\//.test(url);
}
