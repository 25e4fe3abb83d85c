/**
 * The connection that listens for wakeups of other processes.
 *
 *     connecting ──LISTEN──▶ listening ──error, end, or no answer to a ping──▶ waiting ──▶ connecting
 *
 * It heals by itself. A connection that looks open but is dead (a firewall forgot it) says nothing at
 * all, so it is asked now and then whether it is there. After every start something may have been
 * missed, so everybody who waits is told to look once.
 *
 * It stands beside the pool: one that listens for ever would be missing in a small pool.
 */
import { askWithin, canConnect, connectBeside, type OwnClient } from "./own-client.ts";
import type { PoolLike } from "./pool-like.ts";

const PING_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;
/** Waits a little longer after each failure, up to this, and never in step with others. */
const LONGEST_WAIT_MS = 5_000;

export interface ListenerOptions {
  readonly pool: PoolLike;
  readonly channel: string;
  readonly onMessage: (payload: string) => void;
  /** Listening has begun, or begun again. */
  readonly onListening: () => void;
}

interface Notification {
  readonly channel: string;
  readonly payload?: string;
}

export class Listener {
  readonly #options: ListenerOptions;
  #client: OwnClient | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Through another kind of pool, wakeups stay in their process. */
  static canListen(pool: PoolLike): boolean {
    return canConnect(pool);
  }

  /** Resolves after the first try, whatever came of it. */
  async open(): Promise<void> {
    await this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    client?.destroy();
  }

  async #connect(): Promise<void> {
    if (this.#isClosed) return;
    let client: OwnClient | null = null;
    try {
      client = await connectBeside(this.#options.pool, ANSWER_WITHIN_MS);
      const own = client;
      client.on("error", () => this.#lost(own));
      client.on("end", () => this.#lost(own));
      client.on("notification", ({ channel, payload }: Notification) => {
        if (channel === this.#options.channel) this.#options.onMessage(payload ?? "");
      });
      await askWithin(client, `LISTEN "${this.#options.channel}"`, ANSWER_WITHIN_MS);
      if (this.#isClosed) {
        client.destroy();
        return;
      }
      this.#client = client;
      this.#failures = 0;
      this.#later(PING_EVERY_MS, () => this.#ping(own));
      this.#options.onListening();
    } catch {
      client?.destroy();
      this.#failures++;
      const waitMs = Math.min(LONGEST_WAIT_MS, 50 * 2 ** Math.min(this.#failures, 10));
      this.#later(waitMs * (0.5 + Math.random() / 2), () => this.#connect());
    }
  }

  async #ping(client: OwnClient): Promise<void> {
    if (this.#client !== client) return;
    try {
      await askWithin(client, "SELECT 1", ANSWER_WITHIN_MS);
      if (this.#client === client) this.#later(PING_EVERY_MS, () => this.#ping(client));
    } catch {
      this.#lost(client);
    }
  }

  #lost(client: OwnClient): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.destroy();
    this.#later(50 * Math.random(), () => this.#connect());
  }

  #later(ms: number, then: () => Promise<void>): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void then(), ms).unref();
  }
}
