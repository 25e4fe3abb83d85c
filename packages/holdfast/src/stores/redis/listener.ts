/**
 * The one connection that listens, for all queues; in a cluster to any node, since all of them hear of
 * every message.
 *
 *     connecting ──SUBSCRIBE──▶ listening ──it broke, or gave no answer──▶ waiting ──▶ connecting
 *
 * What was published meanwhile is lost, so each time there is a look everywhere. A worker that is up but
 * hears nothing after a reconnect is the most repeated bug of this field.
 *
 * Nobody writes on this connection, so nobody would notice that it is dead: it is asked now and then.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { ClientLike } from "./client-like.ts";
import { connectBeside, connectionsOf, type Connection } from "./connection.ts";
import { connected, late } from "./connected.ts";
import { storeError } from "./redis-error.ts";
import { withDeadline } from "../shared/with-deadline.ts";

const ASK_EVERY_MS = 2_000;
const CONNECT_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;
/** Waits a little longer after each failure, up to this, and never in step with others. */
const LONGEST_WAIT_MS = 1_000;

export interface ListenerOptions {
  readonly client: ClientLike;
  readonly channel: string;
  onMessage(message: string): void;
  /** It listens again after a time without ears. */
  onListening(): void;
}

export class Listener {
  readonly #options: ListenerOptions;
  #own: Connection | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Rejects if the first try fails. */
  async open(): Promise<void> {
    await this.#connect();
  }

  /** Another connection, at once: this one may lead to where hints no longer come. */
  renew(): void {
    this.#lost(this.#own);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#own?.disconnect();
    this.#own = null;
  }

  async #connect(): Promise<void> {
    let own: Connection | null = null;
    try {
      own = connectBeside(anyOf(connectionsOf(this.#options.client)));
      this.#own = own;
      own.on("message", (_channel, message) => this.#options.onMessage(String(message)));
      own.on("end", () => this.#lost(own));
      await connected(own, CONNECT_WITHIN_MS);
      await this.#ask(own);
      this.#failures = 0;
    } catch (error) {
      this.#lost(own);
      throw storeError(error);
    }
  }

  /** To subscribe again changes nothing, and is answered. */
  async #ask(own: Connection): Promise<void> {
    const noAnswer = (): Error => late(ANSWER_WITHIN_MS, { mayHaveHappened: false });
    await withDeadline(own.subscribe(this.#options.channel), ANSWER_WITHIN_MS, noAnswer);
    if (this.#own !== own) return;
    this.#later(ASK_EVERY_MS, () => void this.#ask(own).catch(() => this.#lost(own)));
  }

  #lost(own: Connection | null): void {
    if (this.#own !== own || this.#isClosed) return;
    this.#own = null;
    own?.disconnect();
    this.#failures += 1;
    const waitMs = Math.min(LONGEST_WAIT_MS, 20 * 2 ** Math.min(this.#failures, 10));
    const again = (): void => void this.#connect().then(this.#options.onListening, () => {});
    this.#later(waitMs * (0.5 + Math.random() / 2), again);
  }

  #later(ms: number, then: () => void): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms).unref();
  }
}

function anyOf(connections: readonly Connection[]): Connection {
  const any = connections[Math.floor(Math.random() * connections.length)];
  if (any !== undefined) return any;
  throw new StoreUnavailableError("Redis cannot be reached: try again", { mayHaveHappened: false });
}
