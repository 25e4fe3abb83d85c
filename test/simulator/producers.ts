/** Programs that enqueue: single jobs, bursts that share a commit, batches; with everything on. */
import { StoreUnavailableError } from "../../packages/holdfast/src/core/errors.ts";
import type { EnqueueOptions, JobItem } from "../../packages/holdfast/src/core/contract.ts";
import type { Receipt } from "../../packages/holdfast/src/engine/produce/producer.ts";
import { CONTRACTS, FRAGILE, METERED, QUEUES, SHARES, type Kind } from "./contracts.ts";
import type { Draw } from "./draw.ts";
import type { Judge } from "./judge.ts";
import type { Settings } from "./settings.ts";
import type { SimProcess } from "./sim-process.ts";
import type { Certainty, Enqueue } from "./watcher.ts";

const PRIORITIES = [0, 50, 100, 100, 100, 8_191];

export interface ProducersOptions {
  readonly draw: Draw;
  readonly judge: Judge;
  readonly settings: Settings;
  /** Of a thousand jobs, so many are killers. */
  readonly killerShare: () => number;
  readonly storeNow: () => number;
}

export class Producers {
  readonly #options: ProducersOptions;
  /** Calls that were not answered yet. */
  readonly open = new Set<Enqueue>();
  #tokens = 0;

  constructor(options: ProducersOptions) {
    this.#options = options;
  }

  /** One visit of a producer in this process. */
  produce(process: SimProcess): void {
    const { draw } = this.#options;
    if (draw.chance(0.3)) {
      this.#enqueueAll(process, draw.whole(1, 8));
    } else {
      for (let left = draw.chance(0.2) ? draw.whole(2, 6) : 1; left > 0; left -= 1) {
        this.#enqueue(process);
      }
    }
  }

  /** The process is no more: nobody waits for its answers. */
  gone(process: string): void {
    for (const enqueue of this.open) if (enqueue.process === process) this.open.delete(enqueue);
  }

  #enqueue(process: SimProcess): void {
    const { judge, draw } = this.#options;
    const { item, enqueue } = this.#draw(process);
    const { contract, type: _type, payload, ...options } = item;
    process.hf.enqueue(contract!, payload, options).then(
      (receipt) => {
        this.#acknowledged(enqueue, receipt);
        if (draw.chance(0.1)) this.#waitFor(process, receipt);
      },
      (error: unknown) => {
        this.open.delete(enqueue);
        judge.tell((watcher) => watcher.refused?.(enqueue, certainty(error)));
      },
    );
  }

  #enqueueAll(process: SimProcess, count: number): void {
    const { judge } = this.#options;
    const drawn = Array.from({ length: count }, () => this.#draw(process));
    process.hf.enqueueAll(drawn.map(({ item }) => item)).then(
      (answers) =>
        answers.forEach((answer, at) => {
          const { enqueue } = drawn[at]!;
          if (answer.status !== "refused") this.#acknowledged(enqueue, answer);
          this.open.delete(enqueue);
          if (answer.status === "refused") {
            judge.tell((watcher) => watcher.refused?.(enqueue, certainty(answer.error)));
          }
        }),
      () => {
        // The store was away for one of them: nothing is known of the others.
        for (const { enqueue } of drawn) this.open.delete(enqueue);
      },
    );
  }

  #acknowledged(enqueue: Enqueue, { id, status }: Receipt<unknown, "added" | "duplicate">): void {
    this.open.delete(enqueue);
    this.#options.judge.tell((watcher) => watcher.acknowledged?.(enqueue, id, status));
  }

  #waitFor(process: SimProcess, receipt: Receipt): void {
    const { judge } = this.#options;
    process.hf.waitFor(receipt, { timeoutMs: 15_000 }).then(
      ({ id, status }) => judge.tell((watcher) => watcher.waitedFor?.(id, status)),
      () => {
        // Too long, removed meanwhile, or the process stops: all of that is allowed.
      },
    );
  }

  #draw(process: SimProcess): { readonly item: JobItem; readonly enqueue: Enqueue } {
    const { draw, killerShare, settings } = this.#options;
    if (settings.control && draw.chance(0.4)) return this.#drawControlled(process);
    const kind: Kind = draw.weighted({ ...SHARES, killer: 100 * killerShare() });
    const token = `t${(this.#tokens += 1)}`;
    const key = draw.chance(0.25) ? `key-${draw.whole(1, 4)}` : null;
    // Without a token two jobs of a key are the same; with one they are a conflict.
    const isAnonymous = key !== null && draw.chance(0.6);
    const payload = isAnonymous ? { key } : { token };
    const enqueue = { token: isAnonymous ? null : token, process: process.name };
    this.open.add(enqueue);
    return { item: CONTRACTS[kind].of(payload, this.#drawOptions(key)), enqueue };
  }

  /** Few scopes at a time, and new ones again and again: what is done is not done once more. */
  #drawControlled(process: SimProcess): { readonly item: JobItem; readonly enqueue: Enqueue } {
    const { draw, settings } = this.#options;
    const isLocked = draw.chance(0.4);
    const number = (this.#tokens += 1);
    const scope = `s${Math.floor(number / 40)}.${draw.whole(1, 2)}`;
    const payload = isLocked ? { scope, version: draw.whole(1, 2) } : { token: `t${number}` };
    const enqueue = { token: isLocked ? null : `t${number}`, process: process.name };
    this.open.add(enqueue);
    const options = {
      ...this.#drawDue(),
      ...(settings.groups > 0 &&
        draw.chance(0.7) && { group: `g${draw.whole(1, settings.groups)}` }),
    };
    // The same owner for all of a scope: locks of two owners are two locks.
    const item = isLocked
      ? CONTRACTS.locked.of(payload, this.#drawDue())
      : CONTRACTS.called.of(payload, { ...options, queue: draw.pick([METERED, FRAGILE]) });
    return { item, enqueue };
  }

  #drawOptions(key: string | null): EnqueueOptions {
    const { draw, settings } = this.#options;
    const ttl = draw.pick([undefined, "until-finished" as const, draw.whole(100, 8_000)]);
    return {
      priority: draw.pick(PRIORITIES),
      ...this.#drawDue(),
      ...(settings.groups > 0 &&
        draw.chance(0.7) && { group: `g${draw.whole(1, settings.groups)}` }),
      ...(draw.chance(0.2) && { queue: draw.pick(QUEUES) }),
      ...(draw.chance(0.1) && { maxAttempts: draw.whole(1, 6) }),
      ...(key !== null && {
        idempotencyKey: key,
        idempotencyTtlMs: ttl,
        onDuplicate: draw.pick(["return", "throw"] as const),
        onConflict: draw.pick(["return", "throw"] as const),
      }),
    };
  }

  #drawDue(): EnqueueOptions {
    const { draw, storeNow } = this.#options;
    if (draw.chance(0.75)) return {};
    if (draw.chance(0.8)) return { delayMs: draw.whole(0, 6_000) };
    return { runAt: new Date(Math.floor(storeNow()) + draw.whole(-5_000, 5_000)) };
  }
}

function certainty(error: unknown): Certainty {
  return error instanceof StoreUnavailableError && !error.mayHaveHappened ? "never" : "unknown";
}
