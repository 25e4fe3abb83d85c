/**
 * Wakeups between the processes on one database file: a unix socket for each, in a folder beside the
 * file. Whoever joins listens first and then connects to all that are there, so of two that join at
 * once at least one finds the other. Connections speak both ways, one line of JSON a message:
 *
 *     {"listening":true}            hints are wanted here
 *     {"queues":[…],"finished":[…]} a hint; perhaps with "added" and "lot", see `Wakeup`
 *     {"waiting":true}              somebody here waits for the write lock
 *
 * All of it is best effort. A socket of a dead process refuses and is removed; whatever fails is
 * silent, and the poll of `wakeup.ts` finds the work a little later. Nothing here keeps the process
 * alive.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Wakeup } from "../../core/store.ts";

/** What fits into `sun_path` on every system, with its closing zero. */
const LONGEST_PATH = 103;
/** Nobody sends lines this long: a peer that does is no peer. */
const LONGEST_LINE = 4 * 1024 * 1024;
/** A peer that does not read is told no more: it polls. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** Others remember for twice as long that somebody waits: see `committer.ts`. */
const TELL_EVERY_MS = 50;

export interface WakeSocketOptions {
  readonly file: string;
  readonly onWakeup: (wakeup: Wakeup) => void;
  readonly onPeerWaits: () => void;
}

interface Peer {
  readonly socket: Socket;
  isListening: boolean;
}

export class WakeSocket {
  readonly #options: WakeSocketOptions;
  readonly #peers = new Set<Peer>();
  #server: Server | null = null;
  #folder = "";
  #path = "";
  #isListening = false;
  #toldWaitingAt = -Infinity;

  constructor(options: WakeSocketOptions) {
    this.#options = options;
  }

  get hasListeningPeers(): boolean {
    for (const peer of this.#peers) if (peer.isListening) return true;
    return false;
  }

  /** Resolves when others can be heard, or when it is clear that they cannot. */
  async open(): Promise<void> {
    try {
      this.#folder = folderFor(this.#options.file);
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const name = `${process.pid.toString(36)}-${randomBytes(4).toString("hex")}`;
      this.#path = join(this.#folder, name);
      const server = createServer((socket) => this.#join(socket));
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(this.#path, resolve);
      });
      server.on("error", () => {});
      server.unref();
      this.#server = server;
      for (const other of readdirSync(this.#folder)) if (other !== name) this.#connect(other);
    } catch {
      // Named pipes only, a read-only folder, too many files: the poll is enough.
      this.close();
    }
  }

  setListening(isListening: boolean): void {
    if (this.#isListening === isListening) return;
    this.#isListening = isListening;
    for (const peer of this.#peers) write(peer, { listening: isListening });
  }

  send(wakeup: Wakeup): void {
    const line = JSON.stringify(wakeup);
    for (const peer of this.#peers) if (peer.isListening) writeLine(peer, line);
  }

  /** Asks the others to let go of the write lock for a moment; not more often than they can heed. */
  tellWaiting(): void {
    const now = performance.now();
    if (now - this.#toldWaitingAt < TELL_EVERY_MS) return;
    this.#toldWaitingAt = now;
    for (const peer of this.#peers) write(peer, { waiting: true });
  }

  close(): void {
    for (const peer of this.#peers) peer.socket.end();
    this.#peers.clear();
    this.#server?.close();
    this.#server = null;
    try {
      if (this.#path !== "") rmSync(this.#path, { force: true });
      if (this.#folder !== "") rmdirSync(this.#folder);
    } catch {
      // Others are still there.
    }
  }

  #connect(name: string): void {
    const path = join(this.#folder, name);
    const socket = createConnection(path);
    socket.unref();
    socket.once("connect", () => this.#join(socket));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") removeQuietly(path);
    });
  }

  #join(socket: Socket): void {
    const peer: Peer = { socket, isListening: false };
    let unread = "";
    this.#peers.add(peer);
    socket.unref();
    socket.setEncoding("utf8");
    socket.on("error", () => socket.destroy());
    socket.on("close", () => void this.#peers.delete(peer));
    socket.on("data", (text: string) => {
      const lines = (unread + text).split("\n");
      unread = lines.pop() ?? "";
      for (const line of lines) this.#heard(peer, line);
      if (unread.length > LONGEST_LINE) socket.destroy();
    });
    if (this.#isListening) write(peer, { listening: true });
  }

  #heard(peer: Peer, line: string): void {
    const message = parse(line);
    if (message === null) {
      peer.socket.destroy();
      return;
    }
    if (typeof message["listening"] === "boolean") peer.isListening = message["listening"];
    if (message["waiting"] === true) this.#options.onPeerWaits();
    const wakeup = wakeupOf(message);
    if (wakeup.queues.length + wakeup.finished.length > 0) this.#options.onWakeup(wakeup);
  }
}

/** A path that is too long for a socket gets a folder under the system's temporary one instead. */
function folderFor(file: string): string {
  const folder = `${realpathSync(file)}.wake`;
  if (Buffer.byteLength(join(folder, "zzzzzzz-00000000")) <= LONGEST_PATH) return folder;
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return join(tmpdir(), `holdfast-${hash}.wake`);
}

/** A folder, or a file on a disk that has become read-only, stays: nothing is lost by it. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It refuses the next one too.
  }
}

function write(peer: Peer, message: object): void {
  writeLine(peer, JSON.stringify(message));
}

function writeLine({ socket }: Peer, line: string): void {
  if (socket.writableLength < MOST_UNREAD_BYTES) socket.write(`${line}\n`);
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" ? (message as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function wakeupOf({ queues, finished, added, lot }: Record<string, unknown>): Wakeup {
  const isCounted = typeof added === "number" && typeof lot === "number";
  const hints = { queues: strings(queues), finished: strings(finished) };
  return isCounted ? { ...hints, added, lot } : hints;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
