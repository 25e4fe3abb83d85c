/**
 * Where the places of one run are: a folder for files, a server for everything else. Any process of
 * the run can make places on it, given its address.
 */
import type { StoreName } from "./contenders/index.ts";

export interface Ground {
  /** A new and empty place. */
  make(): Promise<string>;
  /** A copy of a filled one, on the disk before it is measured. Absent: fill a new one instead. */
  copy?(master: string): Promise<string>;
  /** After filling, what the server would do in its own time: so that no measurement pays for it. */
  rest?(place: string): Promise<void>;
  remove(place: string): Promise<void>;
  close(): Promise<void>;
}

/** What a run stands on, as the process that began it sees it. */
export interface Site {
  readonly address: string;
  /** What all contenders share and what decides what an acknowledgement survives; read back. */
  readonly facts: string;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** The file system to be on. */
  readonly folder: string;
  /** Redis only: when its log is on the disk. */
  readonly appendfsync: Appendfsync;
}

export type Appendfsync = "everysec" | "always";

export async function openSite(store: StoreName, options: SiteOptions): Promise<Site> {
  switch (store) {
    case "sqlite":
      return (await import("./grounds/files.ts")).openFolder(options);
    case "postgres":
      return (await import("./grounds/postgres.ts")).openPostgres(options);
    case "redis":
      return (await import("./grounds/redis.ts")).openRedis(options);
    case "mongodb":
      return (await import("./grounds/mongodb.ts")).openMongodb(options);
  }
}

export async function groundAt(store: StoreName, address: string): Promise<Ground> {
  switch (store) {
    case "sqlite":
      return (await import("./grounds/files.ts")).filesGround(address);
    case "postgres":
      return (await import("./grounds/postgres.ts")).postgresGround(address);
    case "redis":
      return (await import("./grounds/redis.ts")).redisGround(address);
    case "mongodb":
      return (await import("./grounds/mongodb.ts")).mongodbGround(address);
  }
}
