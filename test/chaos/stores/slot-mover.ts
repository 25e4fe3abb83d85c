/**
 * Moves the slots in which the store has keys from node to node, as an operator who reshards a cluster does:
 * first to a node that is added for it, then to and fro. Jobs are enqueued and run meanwhile, so there is a
 * pause in every state a slot goes through.
 */
import { setTimeout as pause } from "node:timers/promises";
import { moveSlot } from "../../servers/move-slot.ts";
import type { OwnRedis } from "../../servers/redis.ts";
import { monotonicMs, type SlotOutage } from "../witness.ts";

const PAUSE_MS = 50;

export interface SlotMoverOptions {
  readonly nodes: readonly OwnRedis[];
  /** Of the store, all that there are. */
  keys(): Promise<readonly string[]>;
  addNode(): Promise<OwnRedis>;
}

export class SlotMover {
  readonly #options: SlotMoverOptions;
  readonly #nodes: OwnRedis[];
  #moves = 0;

  constructor(options: SlotMoverOptions) {
    this.#options = options;
    this.#nodes = [...options.nodes];
  }

  /** Answers when each slot was out of reach. */
  async move(): Promise<readonly SlotOutage[]> {
    if (this.#moves === 0) this.#nodes.push(await this.#options.addNode());
    this.#moves += 1;
    const keys = await this.#options.keys();
    // One key of each: keys with the same words in braces are in one slot.
    const bySlot = new Map(keys.map((key) => [key.slice(0, key.indexOf("}")), key]));
    const outages: SlotOutage[] = [];
    for (const [at, slotOf] of [...bySlot.values()].entries()) {
      const steps: number[] = [];
      const onStep = (): Promise<void> => {
        steps.push(monotonicMs());
        return pause(PAUSE_MS);
      };
      await moveSlot({ slotOf, to: this.#target(at), nodes: this.#nodes, onStep }).catch(
        (error: Error) => {
          if (!error.message.includes("BUSYKEY")) throw error;
          const text = `the store wrote keys of ${slotOf} on both nodes while they were moved: jobs are lost`;
          throw new Error(text, { cause: error });
        },
      );
      // The last step finds no key left: all of them were there some time after the one before it.
      const healingAt = steps.at(-2) ?? steps.at(-1);
      if (healingAt !== undefined) outages.push({ from: steps[0]!, healingAt });
    }
    return outages;
  }

  /** All to the new node at first, then spread over all of them, each time to others. */
  #target(at: number): OwnRedis {
    const place = this.#moves === 1 ? this.#nodes.length - 1 : at + this.#moves;
    return this.#nodes[place % this.#nodes.length]!;
  }
}
