/**
 * The write-ahead log is copied back into the database by the committer (`wal_autocheckpoint`), which
 * keeps it at a few megabytes under load. When this process has been quiet for a while, the rest is
 * copied too and the log emptied: a database at rest is one file.
 */
import type { Connection } from "./connection.ts";

const QUIET_MS = 1_000;

export class Checkpoints {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | null = null;
  #isBusy = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  committed(): void {
    this.#isBusy = true;
    if (this.#connection.isBorrowed) return;
    this.#timer ??= setInterval(() => this.#tick(), QUIET_MS).unref();
  }

  close(): void {
    this.#stop();
    if (!this.#connection.isBorrowed) this.#checkpoint();
  }

  #tick(): void {
    if (this.#isBusy) {
      this.#isBusy = false;
      return;
    }
    this.#stop();
    this.#checkpoint();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Somebody who reads or writes may keep it from finishing: then it is theirs to do. */
  #checkpoint(): void {
    try {
      this.#connection.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Locked, or no log at all.
    }
  }
}
