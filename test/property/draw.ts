/**
 * The small words with which operations are drawn. What comes first is what a counterexample keeps.
 *
 * Nothing here is mapped, and constants that are objects are made once: so fast-check can shrink a
 * value that it drew and others changed, which is how counterexamples get short.
 */
import type { Arbitrary, FastCheck, Weighted } from "./fast-check.ts";
import type { DrawnDue, DrawnFilter, DrawnTarget } from "./operation.ts";
import { DURATIONS_MS, KEYS, QUEUES, TAGS, TYPES, WORKERS } from "./small-world.ts";
import type { QueueName } from "./small-world.ts";

/** The names in use. */
export interface Names {
  readonly ids: readonly string[];
  /** With one of them a queue has one line, and its order is fully decided. */
  readonly groups: readonly string[];
  /** On several nodes: only what concerns one queue is one step. */
  readonly isSpread: boolean;
  /** The store takes part in its callers' transactions. */
  readonly hasTransactions: boolean;
}

export class Draw {
  readonly fc: FastCheck;
  readonly #names: Names;
  readonly #queues: readonly QueueName[];
  readonly #everywhere: readonly string[];

  constructor(fc: FastCheck, names: Names) {
    this.fc = fc;
    this.#names = names;
    this.#queues = names.isSpread ? QUEUES.slice(0, 1) : QUEUES;
    this.#everywhere = [...this.#queues, "nowhere"];
  }

  get hasTransactions(): boolean {
    return this.#names.hasTransactions;
  }

  from<const T>(values: readonly T[]): Arbitrary<T> {
    return this.fc.constantFrom(...values);
  }

  sometimes<T>(item: Arbitrary<T>): Arbitrary<T | null> {
    return this.fc.option(item, { nil: null, freq: 2 });
  }

  /** Half of half the time. */
  rarely<T>(item: Arbitrary<T>): Arbitrary<T | null> {
    return this.sometimes(this.sometimes(item));
  }

  choice<T>(...choices: Weighted<T>[]): Arbitrary<T> {
    return this.fc.oneof<T>(...choices);
  }

  record<T>(parts: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<T> {
    return this.fc.record<T>(parts, { noNullPrototype: true });
  }

  one<T>(item: Arbitrary<T>): Arbitrary<T[]> {
    return this.fc.array(item, { minLength: 1, maxLength: 1 });
  }

  /** Also none, which is a case of its own, and the only way in which fast-check drops the last. */
  some<T>(item: Arbitrary<T>, maxLength = 4): Arbitrary<T[]> {
    return this.fc.array(item, { maxLength, size: "max" });
  }

  /** Not where another node would have to take it. */
  fewHere<T>(item: Arbitrary<T>): Arbitrary<T[] | null> {
    return this.#names.isSpread ? this.from([null]) : this.few(item);
  }

  few<T>(item: Arbitrary<T>): Arbitrary<T[] | null> {
    return this.rarely(this.some(item, 2));
  }

  get id(): Arbitrary<string> {
    return this.from(this.#names.ids);
  }
  get queue(): Arbitrary<string> {
    return this.from(this.#queues);
  }
  /** All that are in use, and sometimes one that nobody has heard of. */
  get allQueues(): Arbitrary<readonly string[]> {
    return this.from([this.#queues, this.#everywhere]);
  }
  /** Those lists that name no queue of the world which is not in use. */
  fromLists<Named extends { readonly queue: string }>(
    lists: readonly (readonly Named[])[],
  ): Arbitrary<readonly Named[]> {
    const unused: readonly string[] = QUEUES.filter((queue) => !this.#queues.includes(queue));
    return this.from(lists.filter((list) => !list.some(({ queue }) => unused.includes(queue))));
  }
  get group(): Arbitrary<string> {
    return this.from(this.#names.groups);
  }
  get type(): Arbitrary<string> {
    return this.from(TYPES);
  }
  get key(): Arbitrary<string> {
    return this.from(KEYS);
  }
  get tag(): Arbitrary<string> {
    return this.from(TAGS);
  }
  get durationMs(): Arbitrary<number> {
    return this.from(DURATIONS_MS);
  }
  get person(): Arbitrary<string | null> {
    return this.from([null, "ann"]);
  }

  /** Now, later or earlier. */
  get inMs(): Arbitrary<number> {
    return this.from([...DURATIONS_MS, -1, -10, -60_000]);
  }
  /** Now or earlier. */
  get agoMs(): Arbitrary<number> {
    return this.from(DURATIONS_MS.map((ms) => 0 - ms));
  }

  get due(): Arbitrary<DrawnDue> {
    return this.record<DrawnDue>({
      delayMs: this.from([...DURATIONS_MS, 0.5]),
      dueInMs: this.rarely(this.inMs),
    });
  }

  get filter(): Arbitrary<DrawnFilter> {
    return this.record<DrawnFilter>({
      status: this.rarely(
        this.some(this.from(["queued", "processing", "succeeded", "dead", "cancelled"]), 3),
      ),
      delayed: this.rarely(this.fc.boolean()),
      queue: this.rarely(this.queue),
      group: this.rarely(this.group),
      type: this.rarely(this.type),
      tag: this.rarely(this.tag),
      category: this.rarely(this.from(["network", "auth"])),
      fingerprint: this.rarely(this.from(["send network", "none"])),
      worker: this.rarely(this.from(WORKERS)),
      retrying: this.rarely(this.fc.boolean()),
      fromInMs: this.rarely(this.agoMs),
      toInMs: this.rarely(this.inMs),
      finishedFromInMs: this.rarely(this.agoMs),
      finishedToInMs: this.rarely(this.inMs),
    });
  }

  get target(): Arbitrary<DrawnTarget> {
    const byIds = this.record({ ids: this.some(this.id) });
    const byFilter = this.record({
      filter: this.filter,
      frozenInMs: this.agoMs,
      limit: this.from([2, 1, 50]),
    });
    return this.choice<DrawnTarget>(
      { weight: 3, arbitrary: byIds },
      { weight: 1, arbitrary: byFilter },
    );
  }
}
