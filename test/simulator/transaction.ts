/**
 * A transaction of a handler's own, on the database that also has the jobs:
 *
 *   open ──commit arrives──▶ committed
 *     └──rollback, a conflict, its connection is given up, its process dies──▶ rolled back
 *
 * What was settled inside is done in the store at the commit, all or none. Nothing is locked meanwhile: if
 * the job was taken from its holder, the commit is refused, as a database without locks does it.
 */
import type {
  Settlement,
  SettleResult,
  Store,
  WithinTransaction,
} from "../../packages/holdfast/src/core/store.ts";
import type { Wire } from "./wire.ts";

export interface SimTransactionOptions {
  /** The store itself, behind the wire. */
  readonly store: Store;
  readonly wire: Wire;
  /** Its end is certain. */
  readonly onEnd: (how: "committed" | "rolled back") => void;
}

export class SimTransaction {
  readonly #options: SimTransactionOptions;
  readonly #settlements: Settlement[] = [];
  #phase: "open" | "committed" | "rolled back" = "open";
  /** Its connection is gone, or was told to end it: the caller has it no more. */
  #isGivenUp = false;

  constructor(options: SimTransactionOptions) {
    this.#options = options;
  }

  /** As the caller sees it. */
  get isOpen(): boolean {
    return this.#phase === "open" && !this.#isGivenUp;
  }

  settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    const { wire, store } = this.#options;
    const jobs = settlements.map(({ id, queue }) => ({ id, queue }));
    const apply = async (): Promise<SettleResult[]> => {
      const found = await store.get(jobs);
      return settlements.map((settlement, at) => {
        const job = found[at];
        const isStored = typeof job === "object" && job !== null;
        const isHeld = isStored && job.status === "processing" && job.fence === settlement.fence;
        if (isHeld) this.#settlements.push(settlement);
        return isHeld ? "settled" : "lost";
      });
    };
    return wire.send("settle within", apply, { jobs });
  }

  /** Rejects if it was refused, or if nobody can know. */
  async commit(): Promise<void> {
    const { wire } = this.#options;
    try {
      await wire.send("commit", () => this.#commit(), { jobs: this.#settlements });
    } catch (error) {
      // A commit that has not arrived by now finds its connection closed.
      this.rollback();
      throw error;
    }
  }

  rollback(): void {
    this.#isGivenUp = true;
    if (this.#phase === "open") this.#end("rolled back");
  }

  async #commit(): Promise<void> {
    if (this.#phase !== "open") return;
    const results = await this.#options.store.settle(this.#settlements);
    if (!results.includes("lost")) return this.#end("committed");
    this.#end("rolled back");
    throw new Error("simulated: the transaction was refused because of a conflict");
  }

  #end(how: "committed" | "rolled back"): void {
    this.#phase = how;
    this.#options.onEnd(how);
  }
}

/** What the engine gets to write with. */
export function withinOf(
  tx: SimTransaction,
  sent: (settlement: Settlement) => Settlement,
): WithinTransaction {
  return {
    insert: () => Promise.reject(new Error("inserts in a transaction are not simulated")),
    settle: (settlements) => tx.settle(settlements.map(sent)),
    isOpen: () => tx.isOpen,
  };
}
