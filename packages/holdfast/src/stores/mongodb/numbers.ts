/**
 * The numbers of new jobs, which are their order. The server gives them, one call after the other, so that
 * calls get them in their order.
 *
 * A question for the numbers of each insert costs a fifth of what a process can insert. So one that inserts
 * without a pause takes a stock of numbers, and the next while it uses that. It may keep a stock for some
 * milliseconds: jobs of such a process may come before jobs that other processes have inserted beside it
 * within this time. In one process the order is exact: whoever asks for numbers of his own ends the stock.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import { withDeadline } from "../shared/with-deadline.ts";

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
  readonly keepsStock: boolean;
  /** A steady clock, in milliseconds. */
  readonly elapsed?: () => number;
}

/** After so many inserts that each followed the one before at once, more are expected. */
const SOME = 2;

/** How old the numbers of a job may be. */
export const STOCK_MS = 50;
/** The next ones are asked for a little earlier, so that nobody waits for them. */
const AGING_MS = 40;

/** For how many inserts the first stock is. */
const FIRST_STOCK = 4;
const LARGEST_STOCK = 2_500;

/** Numbers that are ours. */
interface Stock extends Reserved {
  /** How many there were, and how many are left. */
  readonly size: number;
  readonly left: number;
  readonly askedAt: number;
  readonly heardAt: number;
}

export class Numbers {
  readonly #options: NumbersOptions;
  readonly #elapsed: () => number;
  /** Whoever wants numbers gets them after those before him. */
  #last: Promise<unknown> = Promise.resolve();
  #stock: Stock | null = null;
  /** The stock after this one, if it was asked for. */
  #next: Promise<Stock | null> | null = null;
  /** How many inserts have followed each other; null: none has ended in this turn. */
  #row: number | null = null;

  constructor(options: NumbersOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  get keepsStock(): boolean {
    return this.#options.keepsStock;
  }

  /** Greater than all that the server has given so far. */
  reserve(count: number): Promise<Reserved> {
    return this.#inTurn(() => {
      this.#endStock();
      return this.#ask(count);
    });
  }

  /** The numbers of one insert, and how to say that it is done. */
  async forInsert(count: number): Promise<Reserved & { readonly inserted: () => void }> {
    const row = this.#row === null ? 0 : this.#row + 1;
    this.#row = null;
    const isBusy = this.keepsStock && row > SOME;
    const numbers = isBusy ? this.#inTurn(() => this.#take(count)) : this.reserve(count);
    return { ...(await numbers), inserted: () => this.#inserted(row) };
  }

  #inTurn<T>(get: () => Promise<T>): Promise<T> {
    const got = this.#last.then(get);
    this.#last = got.catch(() => {});
    return got;
  }

  async #take(count: number): Promise<Reserved> {
    let stock = this.#stock;
    if (!this.#isGood(stock, count)) {
      stock = await this.#next;
      this.#next = null;
    }
    if (!this.#isGood(stock, count)) stock = await this.#ask(sizeAfter(this.#stock, count));
    const { first, now, bounds, left, heardAt } = stock;
    const rest = { ...stock, first: first + count, left: left - count };
    this.#stock = rest;
    if (!this.#isGood(rest, count, AGING_MS)) {
      this.#next ??= this.#ask(sizeAfter(rest, count)).catch(() => null);
    }
    return { first, now: Math.floor(now + this.#elapsed() - heardAt), bounds };
  }

  /** Has it so many, and not for too long? */
  #isGood(stock: Stock | null, count: number, mostMs = STOCK_MS): stock is Stock {
    return stock !== null && stock.left >= count && this.#elapsed() - stock.askedAt <= mostMs;
  }

  async #ask(count: number): Promise<Stock> {
    const { ask, deadlineMs } = this.#options;
    const askedAt = this.#elapsed();
    const reserved = await withDeadline(ask(count), deadlineMs, () => {
      const message = `MongoDB gave no numbers for new jobs within ${deadlineMs} ms`;
      return new StoreUnavailableError(message, { mayHaveHappened: false });
    });
    return { ...reserved, size: count, left: count, askedAt, heardAt: this.#elapsed() };
  }

  #endStock(): void {
    this.#stock = null;
    this.#next = null;
  }

  #inserted(row: number): void {
    this.#row = row;
    // What this turn brings is inserted after the first of them at the latest.
    setImmediate(() => {
      setImmediate(() => {
        if (this.#row === row) this.#row = null;
      });
    });
  }
}

/**
 * Twice as many after one that was used up, else a little more than were used. Not more: the numbers follow
 * the clock, and must not outrun it however many processes ask.
 */
function sizeAfter(stock: Stock | null, count: number): number {
  if (stock === null) return FIRST_STOCK * count;
  const { size, left } = stock;
  const wanted = left < count ? 2 * size : Math.ceil(1.25 * (size - left));
  return Math.max(2 * count, Math.min(wanted, LARGEST_STOCK));
}
