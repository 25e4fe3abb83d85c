/**
 * Hears what other processes say: a tailable cursor on a small capped collection, which costs the
 * server next to nothing (change streams filter everything that is written: eleven times as much CPU
 * with twenty of them). When it breaks it is opened again, and there may be work anywhere then.
 *
 * It writes a mark of its own first and hears what comes behind it: so it need not know how old the
 * rest is, and the collection is never empty, which would end the cursor at once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Wakeup } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { CollectionLike, CursorLike, Document } from "./driver-like.ts";

const AWAIT_MS = 1_000;
const REOPEN_MS = 200;
const SLOWEST_REOPEN_MS = 5_000;

export interface ListenerOptions {
  readonly db: Pick<Database, "say">;
  /** So that a process does not hear itself. */
  readonly self: string;
  readonly wake: CollectionLike;
  onMessage(wakeup: Wakeup): void;
  /** It hears again after a time in which it could not. */
  onHearingAgain(): void;
}

export class Listener {
  readonly #options: ListenerOptions;
  #cursor: CursorLike | null = null;
  #isClosed = false;
  #hearing: Promise<void> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Everything that is said from now on is heard. */
  async open(): Promise<void> {
    this.#hearing = this.#hear(await this.#mark());
  }

  /** A last word of our own ends the waiting at once; where that cannot be said, the cursor is cut. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#mark();
      await this.#hearing;
    } catch {
      await this.#cursor?.close().catch(() => {});
    }
  }

  async say(wakeup: Wakeup): Promise<void> {
    await this.#options.db.say({ from: this.#options.self, ...wakeup });
  }

  async #mark(): Promise<string> {
    const mark = randomUUID();
    await this.#options.db.say({ from: this.#options.self, mark });
    return mark;
  }

  async #hear(first: string): Promise<void> {
    let mark: string | null = first;
    for (let fails = 0; !this.#isClosed;) {
      try {
        mark ??= await this.#mark();
        await this.#follow(mark, () => (fails = 0));
      } catch {
        // Said below: wait a little and open it again.
      }
      mark = null;
      if (this.#isClosed) return;
      const pauseMs = Math.min(SLOWEST_REOPEN_MS, REOPEN_MS * 2 ** fails++);
      await sleep(pauseMs, undefined, { ref: false });
      if (!this.#isClosed) this.#options.onHearingAgain();
    }
  }

  async #follow(mark: string, onHeard: () => void): Promise<void> {
    const tail = { tailable: true, awaitData: true, maxAwaitTimeMS: AWAIT_MS };
    // Of our own words only the marks: the server keeps the rest from us.
    const news = { $or: [{ from: { $ne: this.#options.self } }, { mark: { $exists: true } }] };
    const cursor = this.#options.wake.find(news, tail);
    this.#cursor = cursor;
    let isBehindMark = false;
    try {
      for (let said = await cursor.next(); said !== null; said = await cursor.next()) {
        if (this.#isClosed) return;
        onHeard();
        if (isBehindMark && said["from"] !== this.#options.self) this.#heard(said);
        isBehindMark ||= said["mark"] === mark;
      }
    } finally {
      await cursor.close().catch(() => {});
    }
  }

  /** Anybody may write there: what is no message of ours is nothing. */
  #heard({ queues, finished, added, lot }: Document): void {
    if (!isTexts(queues) || !isTexts(finished)) return;
    const isCounted = typeof added === "number" && typeof lot === "number";
    this.#options.onMessage({ queues, finished, ...(isCounted && { added, lot }) });
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
