/**
 * The one connection that listens, for all queues. When it breaks, the driver connects again by itself,
 * and we subscribe; what was published meanwhile is lost, so each time there is a look everywhere. A
 * worker that is up but hears nothing after a reconnect is the most repeated bug of this field.
 *
 * Nobody writes on this connection, so nobody would notice that it is dead: it is asked now and then.
 */
import type { ClientLike } from "./client-like.ts";
import { connected, late } from "./connected.ts";
import { withDeadline } from "../remote/with-deadline.ts";

const ASK_EVERY_MS = 5_000;

export interface ListenerOptions {
  readonly client: ClientLike;
  readonly channel: string;
  readonly deadlineMs: number;
  onMessage(message: string): void;
  /** It listens again after a time without ears. */
  onListening(): void;
}

export class Listener {
  readonly #options: ListenerOptions;
  #client: ClientLike | null = null;
  #asking: NodeJS.Timeout | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { client, channel, deadlineMs, onMessage, onListening } = this.#options;
    // A cluster's client subscribes again by itself, in a way that cannot fail. The other's way throws
    // into the void if the connection breaks at that very moment, which would end the process.
    const own = client.isCluster === true ? client.duplicate() : duplicateByHand(client);
    this.#client = own;
    // The driver connects again by itself; without a listener an error would end the process.
    own.on("error", () => {});
    own.on("message", (_channel, message) => onMessage(String(message)));
    await connected(own, deadlineMs);
    await own.subscribe(channel);
    const again = own.isCluster === true ? async () => {} : () => own.subscribe(channel);
    // If that fails the connection is gone, and there will be another one.
    own.on("ready", () => void again().then(onListening, () => {}));
    this.#asking = setInterval(() => void this.#ask(own), ASK_EVERY_MS);
    this.#asking.unref();
  }

  close(): void {
    if (this.#asking !== null) clearInterval(this.#asking);
    this.#client?.disconnect();
    this.#client = null;
  }

  async #ask(own: ClientLike): Promise<void> {
    // A cluster's client watches its own listener.
    if (own.status !== "ready" || own.isCluster === true) return;
    const noAnswer = (): Error => late(ASK_EVERY_MS, { mayHaveHappened: false });
    try {
      await withDeadline(own.callBuffer("PING"), ASK_EVERY_MS, noAnswer);
    } catch {
      if (this.#client === own) own.disconnect(true);
    }
  }
}

/** A cluster's `duplicate` takes other arguments, so this one's are not part of what both look like. */
function duplicateByHand(client: ClientLike): ClientLike {
  const { duplicate } = client as { duplicate(changed: object): ClientLike };
  return duplicate.call(client, { autoResubscribe: false });
}
