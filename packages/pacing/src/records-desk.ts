/**
 * Reads and changes records of the store, for many jobs at once: calls of the same moment share a round trip,
 * and changes of one record are done one after the other here before they race with other processes.
 *
 * A change is a function of what is there, and doing it again changes nothing more: so a lost race and a lost
 * reply are both answered by doing it again, a lost reply a few times. A change that throws is refused alone: those of the same moment are
 * of other jobs and other simulations.
 */
import type { AppSwap, Holdfast } from "holdfast";

export type Change<Value, Answer> = (value: Value | null) => readonly [Value | null, Answer];

interface Waiting {
  readonly change: Change<unknown, unknown>;
  readonly ttlMs: number | null;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

const MOST_AT_ONCE = 100;
const TRIES = 4;

export class RecordsDesk {
  readonly #records: Holdfast["records"];
  readonly #changes = new Map<string, Waiting[]>();
  readonly #reads = new Map<string, Promise<unknown>>();
  #asked: string[] = [];
  #reading: Promise<Map<string, unknown>> | null = null;
  #isWriting = false;
  /** Changes in a row whose fate is not known. */
  #inDoubt = 0;

  constructor(records: Holdfast["records"]) {
    this.#records = records;
  }

  /** As it is now, or was a moment ago: calls of one turn share a look. Null: there is none. */
  async read<Value>(key: string): Promise<Value | null> {
    const known = this.#reads.get(key);
    if (known) return (await known) as Value | null;
    this.#asked.push(key);
    this.#reading ??= Promise.resolve().then(() => this.#look());
    const read = this.#reading.then((found) => found.get(key) ?? null);
    this.#reads.set(key, read);
    return (await read) as Value | null;
  }

  /** In the order of the keys, however many. */
  readAll<Value>(keys: readonly string[]): Promise<(Value | null)[]> {
    return Promise.all(keys.map((key) => this.read<Value>(key)));
  }

  /** `null` in place of a value deletes; the same object leaves the record as it is. */
  update<Value, Answer>(
    key: string,
    change: Change<Value, Answer>,
    ttlMs: number | null = null,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const waiting = {
        ...{ change: change as Change<unknown, unknown>, ttlMs, reject },
        resolve: resolve as (answer: unknown) => void,
      };
      const line = this.#changes.get(key);
      if (line) line.push(waiting);
      else this.#changes.set(key, [waiting]);
      if (this.#isWriting) return;
      this.#isWriting = true;
      queueMicrotask(() => void this.#write());
    });
  }

  async #look(): Promise<Map<string, unknown>> {
    // From here on others ask anew: they may know of a change that this look misses.
    const keys = [...new Set(this.#asked)];
    [this.#asked, this.#reading] = [[], null];
    this.#reads.clear();
    const found = new Map<string, unknown>();
    for (let at = 0; at < keys.length; at += MOST_AT_ONCE) {
      const part = keys.slice(at, at + MOST_AT_ONCE);
      const records = await patiently(() => this.#records.read(part));
      part.forEach((key, index) => found.set(key, records[index]?.value ?? null));
    }
    return found;
  }

  async #write(): Promise<void> {
    while (this.#changes.size > 0) {
      const keys = [...this.#changes.keys()].slice(0, MOST_AT_ONCE);
      const lines = keys.map((key) => this.#changes.get(key)!);
      for (const key of keys) this.#changes.delete(key);
      try {
        await this.#writeLines(keys, lines);
      } catch (error) {
        for (const waiting of lines.flat()) waiting.reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #writeLines(keys: readonly string[], lines: readonly Waiting[][]): Promise<void> {
    const found = await patiently(() => this.#records.read(keys));
    const done = keys.map((_, at) => apply(found[at]?.value ?? null, lines[at]!));
    const changed = keys.map((_, at) => at).filter((at) => done[at]!.isChanged);
    const swaps = changed.map((at) => ({
      ...{ key: keys[at]!, expect: found[at]?.version ?? null, value: done[at]!.value },
      ttlMs: lines[at]!.at(-1)!.ttlMs,
    }));
    const results = await this.#swap(swaps);
    keys.forEach((key, at) => {
      const place = changed.indexOf(at);
      const result = results?.[place];
      if (place === -1 || result === true) done[at]!.tell.forEach((tell) => tell());
      else if (typeof result === "object")
        for (const { reject } of lines[at]!) reject(result.error);
      else this.#again(key, lines[at]!);
    });
    if (results === null) await pause(0);
  }

  /**
   * One by one: true, it is done; false, a race was lost; or why it is refused. Null: whether they were done can only be
   * seen by reading. A store that is read and takes no change, time after time, is one that is away.
   */
  async #swap(
    swaps: readonly AppSwap[],
  ): Promise<(boolean | { readonly error: unknown })[] | null> {
    if (swaps.length === 0) return [];
    try {
      const results = await this.#records.swap(swaps);
      this.#inDoubt = 0;
      return results.map(({ swapped }) => swapped);
    } catch (error) {
      if (isAway(error)) {
        this.#inDoubt = (this.#inDoubt + 1) % TRIES;
        if (this.#inDoubt > 0) return null;
      } else if (swaps.length > 1) {
        // A record that is too large, say: those beside it are of other jobs.
        const each: (boolean | { readonly error: unknown })[] = [];
        for (const one of swaps) each.push(...((await this.#swap([one])) ?? [false]));
        return each;
      }
      return swaps.map(() => ({ error }));
    }
  }

  /** A race was lost: what waits is done on what is there now, before what came later. */
  #again(key: string, line: readonly Waiting[]): void {
    this.#changes.set(key, [...line, ...(this.#changes.get(key) ?? [])]);
  }
}

function apply(before: unknown, line: readonly Waiting[]) {
  let value = before;
  const tell = line.map(({ change, resolve, reject }) => {
    try {
      const [after, answer] = change(value);
      value = after;
      return () => resolve(answer);
    } catch (error) {
      return () => reject(error);
    }
  });
  return { value, tell, isChanged: value !== before };
}

/** A store that is away for a moment is asked again. */
export async function patiently<Out>(ask: () => Promise<Out>): Promise<Out> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error) || tries >= TRIES) throw error;
      await pause(tries);
    }
  }
}

export function isAway(error: unknown): boolean {
  const { code, isRetryable } = Object(error) as { code?: unknown; isRetryable?: unknown };
  return isRetryable === true && code === "HOLDFAST_STORE_UNAVAILABLE";
}

export function pause(tries: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50 * 2 ** tries));
}
