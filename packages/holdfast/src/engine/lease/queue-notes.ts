/**
 * Says once what otherwise happens in silence: a worker that takes a queue for which no handler is defined in
 * this process, a queue that nothing and no one knows (a misspelt name), and a handler whose queue no worker
 * here takes. Looked at with every beat, so a program has a few seconds to define all it has.
 */
import { nearestWord } from "../../core/option-checks.ts";
import type { Store } from "../../core/store.ts";
import type { Logger } from "../logger.ts";
import type { Registry } from "../registry.ts";

export interface QueueNotesOptions {
  readonly store: Pick<Store, "lines" | "find">;
  readonly registry: Registry;
  readonly logger: Logger;
  /** What the workers of this process take. */
  readonly queues: () => ReadonlySet<string>;
}

export class QueueNotes {
  readonly #options: QueueNotesOptions;
  readonly #told = new Set<string>();

  constructor(options: QueueNotesOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { registry, queues } = this.#options;
    const taken = queues();
    // Stopped meanwhile: nothing is taken, and that is meant.
    if (taken.size === 0) return;
    const handled = new Set(registry.handledQueues());
    for (const queue of handled) if (!taken.has(queue)) this.#notTaken(queue);
    for (const queue of taken) if (!handled.has(queue)) await this.#notHandled(queue, handled);
  }

  #notTaken(queue: string): void {
    if (!this.#isNew(`not taken ${queue}`)) return;
    const { registry, logger } = this.#options;
    const types = registry.handledTypes(queue);
    // One of several places of a type: a shard, say, of which each process takes some.
    if (types.length === 0) return;
    logger.warn(
      `no worker of this process takes queue "${queue}", so its handlers here do not run: ${types.join(", ")}. Start one with hf.work({ queues: ["${queue}"] }), if no other process does`,
    );
  }

  async #notHandled(queue: string, handled: ReadonlySet<string>): Promise<void> {
    if (this.#options.registry.isOwnQueue(queue)) return;
    if (!this.#isNew(`not handled ${queue}`)) return;
    const isKnown = this.#options.registry.hasQueue(queue) || (await this.#isStored(queue));
    const nearest = isKnown ? null : nearestWord(queue, [...handled]);
    const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
    this.#options.logger.warn(
      isKnown
        ? `a worker takes queue "${queue}", and no handler of this process belongs to it: jobs of other types are handed back`
        : `a worker takes queue "${queue}", which no contract, job or setting knows${meant}`,
    );
  }

  /** Has it a job, a hold or a limit? */
  async #isStored(queue: string): Promise<boolean> {
    const { store } = this.#options;
    const { queue: state, lines } = await store.lines(queue, { limit: 1 });
    const isSet = [state?.maxActive, state?.maxActivePerGroup, state?.maxWaiting].some(
      (limit) => typeof limit === "number",
    );
    if (isSet || lines.length > 0 || (state?.holds.length ?? 0) > 0) return true;
    const page = { limit: 1, cursor: null, order: "newest" } as const;
    return (await store.find({ queue }, page)).jobs.length > 0;
  }

  #isNew(note: string): boolean {
    if (this.#told.has(note)) return false;
    this.#told.add(note);
    return true;
  }
}
