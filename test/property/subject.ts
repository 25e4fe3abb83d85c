/** The store under test: some Store objects on one place, and a clock that moves only when told. */
import type { Store, StoreInfo } from "../../packages/holdfast/src/core/store.ts";
import type { StorePlace } from "../../packages/holdfast/src/testing/conformance/index.ts";
import { Book } from "./book.ts";
import { call, type Called, callWithin } from "./call.ts";
import { Disagreement } from "./disagreement.ts";
import { dumpOf, type Dump } from "./dump.ts";
import type { Of, Operation } from "./operation.ts";
import type { Moment } from "./resolve.ts";

export interface Performed extends Called {
  readonly operation: Operation;
}

export class Subject {
  readonly book = new Book();
  readonly info: StoreInfo;
  readonly #place: StorePlace;
  /** By caller; each is opened when its caller first calls. */
  readonly #stores: (Store | undefined)[];
  #now: number;

  private constructor(place: StorePlace, first: Store, now: number) {
    this.info = first.info();
    this.#place = place;
    this.#stores = [first];
    this.#now = now;
  }

  static async open(place: StorePlace): Promise<Subject> {
    try {
      const first = await openOn(place);
      return new Subject(place, first, await first.now());
    } catch (error) {
      await place.dispose();
      throw error;
    }
  }

  get now(): number {
    return this.#now;
  }

  async perform(operation: Operation, caller: number): Promise<Performed> {
    const store = await this.#storeOf(caller);
    switch (operation.verb) {
      case "advance":
        await this.#place.advance(operation.ms);
        this.#now += operation.ms;
        return { operation, answer: await store.now(), learn: () => {} };
      case "reopen":
        await store.close();
        this.#stores[caller] = await openOn(this.#place);
        return { operation, answer: undefined, learn: () => {} };
      case "within":
        return { operation, answer: await this.#within(operation, store), learn: () => {} };
      default:
        return { operation, ...(await call(operation, store, this.#moment)) };
    }
  }

  async dump(): Promise<Dump> {
    return dumpOf(await this.#storeOf(0), this.#moment);
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store?.close();
    await this.#place.dispose();
  }

  /** What was answered in a transaction that is rolled back, nobody may count on. */
  async #within(operation: Of<"within">, store: Store): Promise<unknown> {
    const transaction = await this.#place.transaction?.();
    const inside = transaction && store.within?.(transaction.tx);
    if (!inside) throw new Error("this place has no transactions: do not draw any");
    const answers = await callWithin(operation, inside, this.#moment);
    if (!inside.isOpen()) throw new Disagreement("a transaction is over before it has ended");
    await transaction[operation.ends]();
    if (inside.isOpen())
      throw new Disagreement(`a transaction is open after its ${operation.ends}`);
    return operation.ends === "commit" ? answers : undefined;
  }

  async #storeOf(caller: number): Promise<Store> {
    return (this.#stores[caller] ??= await openOn(this.#place));
  }

  get #moment(): Moment {
    return { book: this.book, now: this.#now, exactCounts: this.info.counts === "exact" };
  }
}

async function openOn(place: StorePlace): Promise<Store> {
  const store = await place.open();
  await store.open();
  return store;
}
