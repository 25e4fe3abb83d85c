/**
 * What a gate granted this process and is not used yet. Grants come in chunks, so that a gate of thousands of
 * starts a second is not asked for each, and a chunk is good for a quarter of a second: what is left of it then
 * goes back, once.
 */
import type { Runtime } from "../../engine/runtime.ts";

/** From its request on: a grant that was not used by then is given back. */
export const CHUNK_MS = 250;
const WINDOW_MS = 100;

interface Chunk {
  left: number;
  /** Of those left: asked for by a lease, or for jobs that wait for their slot. */
  promised: number;
  /** Monotonic, when it was asked for. */
  readonly askedAt: number;
  /** By the store's clock. */
  readonly takenAt: number;
  /** Each use needs one of these. */
  readonly probes: string[] | null;
}

/** What one use was granted. */
export interface Pass {
  readonly probe: string | null;
  readonly tokens: number;
  readonly takenAt: number;
}

export interface Unused {
  readonly tokens: { readonly tokens: number; readonly takenAt: number }[];
  readonly probes: string[];
}

export class Chunks {
  readonly #runtime: Runtime;
  #chunks: Chunk[] = [];
  #unused: Unused = { tokens: [], probes: [] };
  #windowEndsAt = -Infinity;
  #inWindow = 0;
  #inLastWindow = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  add(
    granted: number,
    chunk: {
      readonly askedAt: number;
      readonly takenAt: number;
      readonly probes: readonly string[];
    },
  ): void {
    const probes = chunk.probes.length > 0 ? [...chunk.probes] : null;
    this.#chunks.push({ ...chunk, probes, left: granted, promised: 0 });
  }

  /** Nothing is left of any. */
  get isEmpty(): boolean {
    return this.#chunks.every(({ left }) => left === 0) && !this.#hasUnused;
  }

  get #hasUnused(): boolean {
    return this.#unused.tokens.length + this.#unused.probes.length > 0;
  }

  /** What is not set aside. */
  get available(): number {
    return this.#fresh().reduce((all, { left, promised }) => all + left - promised, 0);
  }

  /** Sets up to so many aside for a lease; answers how many. */
  promise(wanted: number): number {
    let promised = 0;
    for (const chunk of this.#fresh()) {
      const count = Math.min(wanted - promised, chunk.left - chunk.promised);
      chunk.promised += count;
      promised += count;
    }
    return promised;
  }

  /** So many were set aside and are not needed. */
  unpromise(count: number): void {
    let left = count;
    for (const chunk of this.#chunks) {
      const less = Math.min(left, chunk.promised);
      chunk.promised -= less;
      left -= less;
    }
  }

  /** Uses what one start costs; null if there is not so much. */
  spend(cost: number): Pass | null {
    for (const chunk of this.#fresh()) {
      if (chunk.left < cost || chunk.probes?.length === 0) continue;
      chunk.left -= cost;
      chunk.promised = Math.min(chunk.left, Math.max(0, chunk.promised - 1));
      this.#count(cost);
      return { probe: chunk.probes?.shift() ?? null, tokens: cost, takenAt: chunk.takenAt };
    }
    return null;
  }

  /** It was granted and did not run. */
  refund({ probe, tokens, takenAt }: Pass): void {
    this.#unused.tokens.push({ tokens, takenAt });
    if (probe !== null) this.#unused.probes.push(probe);
  }

  /** How much was used in the last tenth of a second or so. */
  lately(): number {
    this.#turn();
    return Math.max(this.#inWindow, this.#inLastWindow);
  }

  /** Nothing that was granted before is good any more. */
  expireAll(): void {
    for (const chunk of this.#chunks) this.#expire(chunk);
    this.#chunks = [];
  }

  /** Those of which nothing is set aside for a job. */
  expireIdle(): void {
    const idle = this.#chunks.filter(({ promised }) => promised === 0);
    for (const chunk of idle) this.#expire(chunk);
    this.#chunks = this.#chunks.filter(({ promised }) => promised > 0);
  }

  /** What goes back; whoever collects it gives it back, or it is lost: never twice. */
  collect(): Unused {
    this.#fresh();
    const unused = this.#unused;
    this.#unused = { tokens: [], probes: [] };
    return unused;
  }

  #fresh(): readonly Chunk[] {
    const now = this.#runtime.monotonic();
    const isFresh = ({ askedAt }: Chunk) => now - askedAt < CHUNK_MS;
    if (!this.#chunks.every((chunk) => isFresh(chunk) && chunk.left > 0)) {
      for (const chunk of this.#chunks) if (!isFresh(chunk)) this.#expire(chunk);
      this.#chunks = this.#chunks.filter((chunk) => isFresh(chunk) && chunk.left > 0);
    }
    return this.#chunks;
  }

  #expire({ left, takenAt, probes }: Chunk): void {
    if (left > 0) this.#unused.tokens.push({ tokens: left, takenAt });
    if (probes) this.#unused.probes.push(...probes);
  }

  #count(cost: number): void {
    this.#turn();
    this.#inWindow += cost;
  }

  #turn(): void {
    const now = this.#runtime.monotonic();
    if (now < this.#windowEndsAt) return;
    this.#inLastWindow = now < this.#windowEndsAt + WINDOW_MS ? this.#inWindow : 0;
    this.#inWindow = 0;
    this.#windowEndsAt = now + WINDOW_MS;
  }
}
