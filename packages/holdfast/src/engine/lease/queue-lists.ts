/**
 * The queues of a worker as its record names them. A hundred processes with five thousand queues each would write
 * ten megabytes of names every five seconds, and each of them read it. So a long list is a record of its own,
 * called by its hash: it is written once, whoever has it, and read once by each process.
 */
import { createHash } from "node:crypto";
import type { Records } from "../../core/records.ts";
import type { Runtime } from "../runtime.ts";

const LISTS = "holdfast/worker-queues/";
/** Characters of names that a record may hold itself. */
const SHORT = 2_000;
/** Kept while somebody says every now and then that it has it. */
const KEPT_FOR_MS = 86_400_000;
const SAID_EVERY_MS = KEPT_FOR_MS / 4;

type Names = readonly string[];
/** Something with queues. Stored with `queuesIn`, the name of their list, and none of them if they are many. */
interface Taker {
  readonly queues: Names;
  readonly queuesIn?: string;
}

export class QueueLists {
  readonly #records: Records;
  readonly #runtime: Runtime;
  /** When this process last wrote a list of its own. */
  readonly #saidAt = new Map<string, number>();
  /** Those that were asked for the last time. */
  #known = new Map<string, Names>();

  constructor({ records, runtime }: { readonly records: Records; readonly runtime: Runtime }) {
    this.#records = records;
    this.#runtime = runtime;
  }

  /** As they are stored. Their lists are there first. */
  async shorten<T extends Taker>(takers: readonly T[]): Promise<T[]> {
    const shortened: T[] = [];
    for (const taker of takers) {
      const value = JSON.stringify(taker.queues);
      if (value.length <= SHORT) {
        shortened.push(taker);
        continue;
      }
      const key = LISTS + createHash("sha256").update(value).digest("base64url");
      await this.#say(key, value);
      shortened.push({ ...taker, queues: [], queuesIn: key });
    }
    return shortened;
  }

  /** As they were before. What is asked for no more is forgotten. */
  async expand<T extends Taker>(takers: readonly T[]): Promise<T[]> {
    const keys = new Set(takers.flatMap(({ queuesIn }) => queuesIn ?? []));
    const unknown = [...keys].filter((key) => !this.#known.has(key));
    const found = unknown.length === 0 ? [] : await this.#records.read(unknown);
    for (const record of found) {
      if (record !== null) this.#known.set(record.key, JSON.parse(record.value) as Names);
    }
    this.#known = new Map([...this.#known].filter(([key]) => keys.has(key)));
    return takers.map(({ queuesIn, ...taker }) => {
      const queues = queuesIn === undefined ? undefined : this.#known.get(queuesIn);
      return { ...taker, ...(queues && { queues }) } as T;
    });
  }

  async #say(key: string, value: string): Promise<void> {
    const now = this.#runtime.monotonic();
    if (now - (this.#saidAt.get(key) ?? -Infinity) < SAID_EVERY_MS) return;
    const swap = (expect: number | null) =>
      this.#records.swap([{ key, expect, value, ttlMs: KEPT_FOR_MS }]);
    const [first] = await swap(null);
    // Another process has the same list. Whoever writes it now keeps it as long.
    if (first?.swapped === false) await swap(first.current?.version ?? null);
    this.#saidAt.set(key, now);
  }
}
