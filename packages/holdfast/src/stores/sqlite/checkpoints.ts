/**
 * The write-ahead log is copied back into the database by the committer (`wal_autocheckpoint`), which
 * keeps it at a few megabytes under load. When this process has been quiet for a while, the rest is
 * copied too, and the next commit begins the log anew. Its file keeps its size until the store is
 * closed: a commit that overwrites waits a third less for the disk than one that makes a file longer.
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
    if (!this.#connection.isBorrowed) this.#checkpoint("TRUNCATE");
  }

  #tick(): void {
    if (this.#isBusy) {
      this.#isBusy = false;
      return;
    }
    this.#stop();
    this.#checkpoint("PASSIVE");
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Somebody who reads or writes may keep it from finishing: then it is theirs to do. */
  #checkpoint(how: "PASSIVE" | "TRUNCATE"): void {
    try {
      this.#connection.database.exec(`PRAGMA wal_checkpoint(${how})`);
    } catch {
      // Locked, or no log at all.
    }
  }
}
