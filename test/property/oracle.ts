/** The memory store, which is asked after another store has answered: would it have said the same? */
import type { LeaseReply, Store, StoreInfo } from "../../packages/holdfast/src/core/store.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { Book } from "./book.ts";
import { call, callWithin, leased, type Called } from "./call.ts";
import { mustAgree } from "./disagreement.ts";
import { checkRecount, dumpOf, type Dump } from "./dump.ts";
import { ledLease } from "./led-lease.ts";
import type { Operation } from "./operation.ts";
import { Ranks } from "./ranks.ts";
import { leaseRequest, type Moment } from "./resolve.ts";
import { shown } from "./shown.ts";

/** An operation, and what the store under test answered. */
export interface Done {
  readonly operation: Operation;
  readonly answer: unknown;
}

export interface OracleSettings {
  /** The clock of the store under test at the beginning. */
  readonly now: number;
  /** Of the store under test. */
  readonly info: StoreInfo;
  /** Nobody else calls meanwhile. */
  readonly alone: boolean;
}

export class Oracle {
  readonly #store: Store;
  readonly #book = new Book();
  readonly #ownRanks = new Ranks();
  readonly #theirRanks = new Ranks();
  readonly #alone: boolean;
  readonly #exactCounts: boolean;
  #now: number;

  private constructor({ now, info, alone }: OracleSettings) {
    this.#now = now;
    this.#alone = alone;
    this.#exactCounts = info.counts === "exact";
    this.#store = memoryStore({ now: () => this.#now, remembersMs: info.remembersMs });
  }

  static async open(settings: OracleSettings): Promise<Oracle> {
    const oracle = new Oracle(settings);
    await oracle.#store.open();
    return oracle;
  }

  /**
   * Does the same, in this order, and throws a `Disagreement` if an answer is another. What is learned
   * from the answers is known afterwards: callers at once do not know each other's.
   */
  async follow(dones: readonly Done[]): Promise<void> {
    const learned: Called[] = [];
    for (const done of dones) learned.push(await this.#followOne(done));
    for (const { learn } of learned) learn(this.#book);
  }

  /** Everything that can be seen of a store is seen of this one too. */
  async mustLookLike(dump: Dump): Promise<void> {
    const own = await dumpOf(this.#store, this.#moment);
    for (const [part, value] of Object.entries(own)) {
      const theirs = shown(dump[part as keyof Dump], this.#theirRanks);
      mustAgree(theirs, shown(value, this.#ownRanks), `${part} differ afterwards`);
    }
    checkRecount(dump, this.#now);
  }

  async #followOne({ operation, answer }: Done): Promise<Called> {
    const own = await this.#call(operation, answer);
    mustAgree(
      shown(answer, this.#theirRanks),
      shown(own.answer, this.#ownRanks),
      `${operation.verb} is answered otherwise`,
    );
    return own;
  }

  async #call(operation: Operation, answer: unknown): Promise<Called> {
    switch (operation.verb) {
      case "advance":
        this.#now += operation.ms;
        return { answer: this.#now, learn: () => {} };
      case "reopen":
        return { answer, learn: () => {} };
      case "within": {
        // Rolled back, it never was. Committed, nobody can have come between its parts here.
        const isKept = operation.ends === "commit";
        const own = isKept ? await callWithin(operation, this.#store, this.#moment) : undefined;
        return { answer: own, learn: () => {} };
      }
      case "lease": {
        const { verb: _, ...request } = operation;
        const reply = answer as LeaseReply;
        const led = { reply, alone: this.#alone };
        return leased(await ledLease(this.#store, leaseRequest(request), led));
      }
      default:
        return call(operation, this.#store, this.#moment);
    }
  }

  get #moment(): Moment {
    return { book: this.#book, now: this.#now, exactCounts: this.#exactCounts };
  }
}
