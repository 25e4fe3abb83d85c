/**
 * Wakeups: to whoever listens in this process, and by NOTIFY to the others. They are hints: losing one
 * costs latency only.
 *
 * NOTIFY is never part of a transaction that writes: all commits of a database that notify take turns,
 * and a queue that did so per job has stopped whole databases. What is to be said is sent at once,
 * then gathered for a moment, so that a busy process notifies at most a hundred times a second.
 */
import type { Wakeup } from "../../core/store.ts";

/** Hints to other processes are sent at once, then gathered for so long. */
const GATHER_MS = 10;
/** A payload of NOTIFY is at most 8000 bytes. */
const PAYLOAD_BYTES = 7_500;
/** Finished jobs named at a time. Who waits for one of more than that finds it by asking. */
const MOST_FINISHED = 50;
/** Beyond so many messages at a time the rest is left to the poll. */
const MOST_MESSAGES = 8;

/** Sends one message to all processes that listen; may fail. */
export type Notify = (payload: string) => Promise<void>;

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #near = new Hints();
  readonly #far = new Hints();
  /** So that a process does not hear itself. */
  readonly #self: string;
  #notify: Notify | null = null;
  #isOnItsWay = false;
  #gathering: NodeJS.Timeout | null = null;

  constructor(self: string) {
    this.#self = self;
  }

  /** The same function may listen twice: each has its own way to stop. */
  listen(listener: (wakeup: Wakeup) => void): () => void {
    const own = (wakeup: Wakeup): void => listener(wakeup);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  open(notify: Notify): void {
    this.#notify = notify;
  }

  /** Sends what is on its way to other processes and forgets the rest. */
  async close(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    await this.#sendFar();
    this.#notify = null;
    this.#listeners.clear();
    this.#near.take();
  }

  /** After a commit of this process. */
  committed(queues: readonly string[], finished: readonly string[]): void {
    this.#near.add(queues, finished);
    this.#far.add(queues, finished);
    this.#deliverSoon();
    if (this.#gathering !== null || this.#notify === null) return;
    // After our own: a worker in this process asks first, and does not share the server with a hint.
    setImmediate(() => void this.#sendFar());
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#sendFar();
    }, GATHER_MS);
  }

  /** From another process. */
  arrived(payload: string): void {
    const message = parse(payload);
    if (message === null || message.from === this.#self) return;
    this.#near.add(message.queues, message.finished);
    this.#deliverSoon();
  }

  /** There may be work in any of these: nobody has listened for a while. */
  missed(queues: readonly string[]): void {
    this.#near.add(queues, []);
    this.#deliverSoon();
  }

  async #sendFar(): Promise<void> {
    const hints = this.#far.take();
    if (hints === null || this.#notify === null) return;
    // A busy worker finishes thousands a second, and hardly anybody waits for one of them.
    const isMuch = hints.finished.length > MOST_FINISHED;
    const wakeup = isMuch ? { ...hints, finished: [] } : hints;
    try {
      for (const payload of payloadsOf(this.#self, wakeup)) await this.#notify(payload);
    } catch {
      // The others find it by polling.
    }
  }

  /** Later than the verb that caused it: a listener that calls the store must not be inside a verb. */
  #deliverSoon(): void {
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    queueMicrotask(() => {
      this.#isOnItsWay = false;
      const wakeup = this.#near.take();
      if (wakeup === null) return;
      for (const listener of [...this.#listeners]) listener(wakeup);
    });
  }
}

class Hints {
  readonly #queues = new Set<string>();
  #finished: string[] = [];

  add(queues: readonly string[], finished: readonly string[]): void {
    for (const queue of queues) this.#queues.add(queue);
    for (const id of finished) this.#finished.push(id);
  }

  take(): Wakeup | null {
    if (this.#queues.size === 0 && this.#finished.length === 0) return null;
    const wakeup = { queues: [...this.#queues], finished: this.#finished };
    this.#queues.clear();
    this.#finished = [];
    return wakeup;
  }
}

interface Message extends Wakeup {
  readonly from: string;
}

/** As many messages as it takes, within reason. */
export function payloadsOf(from: string, { queues, finished }: Wakeup): string[] {
  const payloads: string[] = [];
  const rest = [
    ...queues.map((queue) => ({ queue, id: null })),
    ...finished.map((id) => ({ queue: null, id })),
  ];
  while (rest.length > 0 && payloads.length < MOST_MESSAGES) {
    const message = { from, queues: [] as string[], finished: [] as string[] };
    let bytes = Buffer.byteLength(JSON.stringify(message));
    for (let next = rest[0]; next !== undefined; next = rest[0]) {
      const added = Buffer.byteLength(JSON.stringify(next.queue ?? next.id)) + 1;
      const isEmpty = message.queues.length + message.finished.length === 0;
      if (bytes + added > PAYLOAD_BYTES && !isEmpty) break;
      rest.shift();
      // A name that fits into no message is found by polling.
      if (bytes + added > PAYLOAD_BYTES) continue;
      bytes += added;
      if (next.queue !== null) message.queues.push(next.queue);
      else message.finished.push(next.id);
    }
    payloads.push(JSON.stringify(message));
  }
  return payloads;
}

/** Anybody may notify on our channel: what is no message of ours is nothing. */
function parse(payload: string): Message | null {
  try {
    const message = JSON.parse(payload) as Partial<Message> | null;
    const { from, queues, finished } = message ?? {};
    const isMessage = typeof from === "string" && isTexts(queues) && isTexts(finished);
    return isMessage ? { from, queues, finished } : null;
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
