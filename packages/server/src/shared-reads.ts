/**
 * Reads that many callers ask for alike: charts of open dashboards, above all. An answer serves all who ask within
 * two seconds, and those who ask while it is on its way wait for the same one.
 */
const FRESH_MS = 2_000;
const MOST = 200;

interface Read {
  readonly at: number;
  readonly answer: Promise<unknown>;
}

export class SharedReads {
  readonly #now: () => number;
  readonly #reads = new Map<string, Read>();
  readonly #pending = new Map<string, Read>();

  /** `now`: a clock that is never set. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Those who ask while it is on its way wait for the same one, unless it takes long; who comes later asks anew. */
  together<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const pending = this.#pending.get(key);
    if (pending && this.#now() - pending.at < FRESH_MS) return pending.answer as Promise<Answer>;
    const answer = ask().finally(() => {
      if (this.#pending.get(key)?.answer === answer) this.#pending.delete(key);
    });
    this.#pending.set(key, { at: this.#now(), answer });
    return answer;
  }

  read<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#reads.get(key);
    if (known && this.#now() - known.at < FRESH_MS) return known.answer as Promise<Answer>;
    const answer = ask();
    this.#reads.delete(key);
    this.#reads.set(key, { at: this.#now(), answer });
    // What failed is asked again by the next who wants it.
    answer.catch(() => {
      if (this.#reads.get(key)?.answer === answer) this.#reads.delete(key);
    });
    const { value: oldest } = this.#reads.keys().next();
    if (this.#reads.size > MOST && oldest !== undefined) this.#reads.delete(oldest);
    return answer;
  }
}
