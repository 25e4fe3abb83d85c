/**
 * One way to the store for everything a worker does: opened once, every answer noted, so that the
 * chores know whether this process has been in contact, and people hear of an outage once, not a
 * thousand times.
 */
import { HoldfastError, StoreUnavailableError } from "../core/errors.ts";
import { BATCH_ITEMS } from "../core/job.ts";
import type { Store } from "../core/store.ts";
import type { Logger } from "./logger.ts";
import { LastAnswer } from "./last-answer.ts";
import type { Runtime } from "./runtime.ts";
import type { Contact } from "./lease/contact.ts";

export interface StoreLinkOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly contact: Contact;
}

export class StoreLink {
  readonly store: Store;
  readonly contact: Contact;
  readonly lastAnswer: LastAnswer;
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  #away = false;

  constructor(options: StoreLinkOptions) {
    this.store = options.store;
    this.contact = options.contact;
    this.lastAnswer = new LastAnswer(options.runtime);
    this.#runtime = options.runtime;
    this.#logger = options.logger;
  }

  /** How many items one call may carry. */
  get batchItems(): number {
    return this.store.batchItems ?? BATCH_ITEMS;
  }

  async call<Out>(verb: (store: Store) => Promise<Out>): Promise<Out> {
    const asked = this.contact.asked(this.#runtime.monotonic());
    try {
      const out = await verb(this.store);
      this.contact.answered(asked, this.#runtime.monotonic());
      this.lastAnswer.answered();
      if (this.#away) {
        this.#away = false;
        this.#logger.info("the store answers again");
      }
      return out;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.contact.broken(asked);
      else this.contact.answered(asked, this.#runtime.monotonic());
      this.lastAnswer.failed(error);
      if (!this.#away && isRetryable(error)) {
        this.#away = true;
        this.#logger.warn("the store does not answer; trying again until it does", { error });
      }
      throw error;
    }
  }
}

/** May the same call succeed later? Errors that are not ours are bugs or corrupt data: no. */
export function isRetryable(error: unknown): boolean {
  return error instanceof HoldfastError && error.isRetryable;
}

/** Waits a little longer each time, with chance in it so that workers do not march in step. */
export function retryDelayMs(failures: number, random: number): number {
  return Math.min(50 * 2 ** Math.min(failures - 1, 5), 1_000) * (0.5 + random / 2);
}
