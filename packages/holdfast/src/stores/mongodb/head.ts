/**
 * The document `head`, which all processes share: the clock's mark, the last number that was given to a job,
 * and a note that changes with every bound of a queue.
 *
 * It is written lightly: numbers and fences follow the clock, so they grow even if the last of these writes
 * is lost with a primary. And never in a caller's transaction, which would keep all others from it.
 */
import { randomUUID } from "node:crypto";
import type { Clock, Marked } from "./clock.ts";
import type { DbLike, Document } from "./driver-like.ts";

export interface Reserved {
  /** The first of the numbers. */
  readonly first: number;
  readonly now: number;
  /** Another one each time that the bound of a queue was changed. */
  readonly bounds: string;
}

export interface HeadOptions {
  readonly db: DbLike;
  readonly prefix: string;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

interface HeadDocument extends Marked {
  readonly last: number;
  readonly bounds?: string;
}

export class Head {
  readonly #options: HeadOptions;

  constructor(options: HeadOptions) {
    this.#options = options;
  }

  /** The store's clock. */
  now(): Promise<number> {
    return this.#options.clock.now({ read: () => this.#read(), mark: () => this.#move([]) });
  }

  /** So many numbers that nobody else gets, each greater than all before, and the time. */
  async reserve(count: number): Promise<Reserved> {
    const last = { $max: ["$last", { $multiply: ["$now", 1_000] }] };
    const moved = await this.#move([{ $set: { last: { $add: [last, count] } } }]);
    const now = this.#options.clock.saw(moved.now);
    return { first: moved.last - count + 1, now, bounds: moved.bounds ?? "" };
  }

  /** Told to everybody who inserts, with the numbers of his jobs. */
  async noteBounds(): Promise<void> {
    await this.#move([{ $set: { bounds: randomUUID() } }]);
  }

  async #read(): Promise<(Marked & { readonly host: number }) | null> {
    const shown = { now: 1, ahead: 1, host: { $toLong: "$$NOW" } };
    const pipeline = [{ $match: { _id: "head" } }, { $project: shown }];
    const { cursor } = await this.#command({ aggregate: this.#name, pipeline, cursor: {} });
    const [head] = (cursor as { readonly firstBatch: (Marked & { host: number })[] }).firstBatch;
    return head ?? null;
  }

  async #move(stages: readonly Document[]): Promise<HeadDocument> {
    const { value } = await this.#command({
      findAndModify: this.#name,
      query: { _id: "head" },
      update: [...this.#options.clock.stages(), ...stages],
      upsert: true,
      new: true,
      writeConcern: { w: 1 },
    });
    return value as HeadDocument;
  }

  get #name(): string {
    return `${this.#options.prefix}head`;
  }

  /** As it is: the driver adds nothing, and does not try again. */
  #command(command: Document): Promise<Document> {
    const { db, deadlineMs } = this.#options;
    const plain = { promoteLongs: true, promoteValues: true, useBigInt64: false };
    return db.command({ ...command, maxTimeMS: deadlineMs }, plain);
  }
}
