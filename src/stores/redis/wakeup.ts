/**
 * Wakeups: to whoever listens in this process, and by PUBLISH to the others. They are hints: losing one
 * costs latency only.
 *
 * A queue is named only if its script found that somebody went away hungry: under a backlog nothing is
 * published at all. What is to be said is sent at once, then gathered for a moment, so that a busy
 * process publishes at most a hundred times a second.
 */
import type { Wakeup } from "../../core/store.ts";

/** Hints to other processes are sent at once, then gathered for so long. */
const GATHER_MS = 10;
/** Beyond so many ids in one message the rest is left to the poll. */
const MOST_FINISHED = 2_000;

/** Sends one message to all processes that listen; may fail. */
export type Publish = (message: string) => Promise<void>;

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #near = new Hints();
  readonly #far = new Hints();
  /** So that a process does not hear itself. */
  readonly #self: string;
  #publish: Publish | null = null;
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

  open(publish: Publish): void {
    this.#publish = publish;
  }

  /** Sends what is on its way to other processes and forgets the rest. */
  async close(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    await this.#sendFar();
    this.#publish = null;
    this.#listeners.clear();
    this.#near.take();
  }

  /** After a call of this process. */
  done(queues: Iterable<string>, finished: readonly string[]): void {
    this.#near.add(queues, finished);
    this.#far.add(queues, finished);
    if (this.#near.isEmpty) return;
    this.#deliverSoon();
    if (this.#gathering !== null || this.#publish === null) return;
    void this.#sendFar();
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#sendFar();
    }, GATHER_MS);
  }

  /** From another process. */
  arrived(message: string): void {
    const heard = parse(message);
    if (heard === null || heard.from === this.#self) return;
    this.#near.add(heard.queues, heard.finished);
    this.#deliverSoon();
  }

  /** There may be work in any of these: nobody has listened for a while. */
  missed(queues: readonly string[]): void {
    this.#near.add(queues, []);
    this.#deliverSoon();
  }

  async #sendFar(): Promise<void> {
    const wakeup = this.#far.take();
    if (wakeup === null || this.#publish === null) return;
    const finished = wakeup.finished.slice(0, MOST_FINISHED);
    try {
      await this.#publish(JSON.stringify({ from: this.#self, queues: wakeup.queues, finished }));
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

  get isEmpty(): boolean {
    return this.#queues.size === 0 && this.#finished.length === 0;
  }

  add(queues: Iterable<string>, finished: readonly string[]): void {
    for (const queue of queues) this.#queues.add(queue);
    for (const id of finished) this.#finished.push(id);
  }

  take(): Wakeup | null {
    if (this.isEmpty) return null;
    const wakeup = { queues: [...this.#queues], finished: this.#finished };
    this.#queues.clear();
    this.#finished = [];
    return wakeup;
  }
}

interface Message extends Wakeup {
  readonly from: string;
}

/** Anybody may publish on our channel: what is no message of ours is nothing. */
function parse(text: string): Message | null {
  try {
    const message = JSON.parse(text) as Partial<Message> | null;
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
