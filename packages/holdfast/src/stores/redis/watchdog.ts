/**
 * Finds connections that are dead without anybody having said so: a firewall forgot them, a failover
 * swallowed them, replies get lost. Calls on one would wait for their whole deadline, though the server
 * has long been well again.
 *
 * When a call has waited for a while, the server is asked twice: over the connection that is silent, and
 * over a new one beside it. If only the new one hears something, the old one is dead and is cut; the
 * driver makes another. If neither does, the server is busy or away, and calls wait on: to cut them off
 * would only leave open what became of them.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ClientLike } from "./client-like.ts";
import { connectBeside, connectionsOf, type Connection } from "./connection.ts";
import { connected } from "./connected.ts";

const SILENT_MS = 1_000;
/** Again and again, without waiting for the last look: what it asked may have been swallowed. */
const LOOK_EVERY_MS = 500;
const ANSWER_WITHIN_MS = 3_000;
/** The old connection was asked first, and has so much longer than the new one to answer. */
const GRACE_MS = 500;

export interface WatchdogOptions {
  readonly client: ClientLike;
  /** For how long the server may leave a healthy connection without an answer, because it was asked to. */
  readonly blockedMs: number;
  /** For how long the oldest call has waited; null if there is none. */
  waitingMs(): number | null;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  #isWatching = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** There is a call: it watches until there is none. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    setTimeout(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  #look(): void {
    const { client, blockedMs, waitingMs } = this.#options;
    this.#isWatching = false;
    const waitedMs = waitingMs();
    if (waitedMs === null) return;
    this.watch();
    if (waitedMs < SILENT_MS) return;
    for (const one of connectionsOf(client)) void cutIfDead(one, GRACE_MS + blockedMs);
  }
}

async function cutIfDead(connection: Connection, graceMs: number): Promise<void> {
  const { stream } = connection;
  if (stream === undefined || stream === null || stream.destroyed) return;
  const { bytesRead } = stream;
  // One that is not ready is being asked already.
  if (connection.status === "ready") connection.callBuffer("PING").catch(() => {});
  if (!(await hearsBeside(connection))) return;
  await pause(graceMs);
  if (stream.bytesRead === bytesRead) stream.destroy();
}

async function hearsBeside(connection: Connection): Promise<boolean> {
  let beside: Connection | null = null;
  try {
    beside = connectBeside(connection);
    await connected(beside, ANSWER_WITHIN_MS);
    return true;
  } catch {
    return false;
  } finally {
    beside?.disconnect();
  }
}
