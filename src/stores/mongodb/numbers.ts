/**
 * The numbers of new jobs, which are their order. The server gives them, one call after the other, so that
 * calls get them in their order.
 *
 * Callers that are answered together often come again together, at once. Then the numbers for what they
 * will bring are asked for just before they are answered, and are on their way while the jobs are made.
 * Such numbers are good for this turn of the event loop only: nothing that the process hears of later is
 * inserted with them, so whoever was told of a job comes behind it.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import { withDeadline } from "../remote/with-deadline.ts";

export interface Reserved {
  /** The first of the numbers. */
  readonly first: number;
  readonly now: number;
  /** Another one each time that the bound of a queue was changed. */
  readonly bounds: string;
}

export interface NumbersOptions {
  /** So many numbers that nobody else gets, each greater than all before. */
  readonly ask: (count: number) => Promise<Reserved>;
  /** The next in the row must not wait for ever for an answer that never comes. */
  readonly deadlineMs: number;
  readonly looksAhead: boolean;
}

/** After so many inserts that each followed the one before at once, another one is expected. */
const SOME = 2;

export class Numbers {
  readonly #options: NumbersOptions;
  /** The last call. */
  #asking: Promise<unknown> = Promise.resolve();
  #ahead: { readonly count: number; readonly reserved: Promise<Reserved | null> } | null = null;
  /** How many inserts have followed each other; null: none has ended in this turn. */
  #row: number | null = null;

  constructor(options: NumbersOptions) {
    this.#options = options;
  }

  reserve(count: number): Promise<Reserved> {
    const reserved = this.#asking.then(() => this.#askInTime(count));
    this.#asking = reserved.catch(() => {});
    return reserved;
  }

  #askInTime(count: number): Promise<Reserved> {
    const { ask, deadlineMs } = this.#options;
    return withDeadline(ask(count), deadlineMs, () => {
      const message = `MongoDB gave no numbers for new jobs within ${deadlineMs} ms`;
      return new StoreUnavailableError(message, { mayHaveHappened: false });
    });
  }

  /** The numbers of one insert, and how to say that it is done. */
  async forInsert(count: number): Promise<Reserved & { readonly inserted: () => void }> {
    const row = this.#row === null ? 0 : this.#row + 1;
    const ahead = this.#ahead;
    this.#forget();
    const isEnough = ahead !== null && ahead.count >= count;
    const reserved = (isEnough ? await ahead.reserved : null) ?? (await this.reserve(count));
    return { ...reserved, inserted: () => this.#inserted(count, row) };
  }

  #inserted(count: number, row: number): void {
    if (!this.#options.looksAhead) return;
    this.#row = row;
    if (row >= SOME) {
      const more = 2 * count;
      this.#ahead = { count: more, reserved: this.reserve(more).catch(() => null) };
    }
    const own = this.#ahead;
    // What this turn brings is inserted after the first of them at the latest.
    setImmediate(() => {
      setImmediate(() => {
        if (this.#ahead === own) this.#forget();
      });
    });
  }

  #forget(): void {
    this.#row = null;
    this.#ahead = null;
  }
}
