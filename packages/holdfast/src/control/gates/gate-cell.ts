/**
 * The shared state of one gate (or of one group of it), as this process knows it, and the one way to change it:
 * by compare-and-set, so that all processes together keep one rule. A value carries its writer's mark: after a
 * lost reply the mark tells whether it was written.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import { rememberMs, type GateState } from "../../core/gate-state.ts";
import type { Records } from "../../core/records.ts";
import { sleep, type Runtime } from "../../engine/runtime.ts";
import type { Gate } from "./gate-options.ts";
import { ABSENT, knownOf, type Known } from "./gate-records.ts";
import type { StoreClock } from "./store-clock.ts";

/** What was read longer ago says nothing about what is so now. */
const FRESH_MS = 500;
/** After so many lost races the next ones wait a moment. */
const IN_A_ROW = 5;
const CROWDED_MS = 10;

export interface CellOptions {
  readonly records: Records;
  readonly runtime: Runtime;
  readonly clock: StoreClock;
}

export class GateCell {
  readonly key: string;
  gate: Gate;
  readonly #options: CellOptions;
  #known: Known | null = null;
  #knownAt = -Infinity;

  constructor(key: string, gate: Gate, options: CellOptions) {
    this.key = key;
    this.gate = gate;
    this.#options = options;
  }

  /** Null: it was not looked at yet. */
  get state(): GateState | null {
    return this.#known?.state ?? null;
  }

  get ageMs(): number {
    return this.#options.runtime.monotonic() - this.#knownAt;
  }

  /** No state that is older is acted on; a breaker must not pass from closed to half-open unnoticed. */
  get freshMs(): number {
    const { breaker } = this.gate;
    return breaker ? Math.min(FRESH_MS, breaker.openMs / 2) : FRESH_MS;
  }

  /** The store's clock as far as is known without asking; null: it was never asked. */
  get clockMs(): number | null {
    return this.#options.clock.known;
  }

  now(): Promise<number> {
    return this.#options.clock.now();
  }

  async read(): Promise<GateState> {
    const askedAt = this.#options.runtime.monotonic();
    const [found] = await this.#options.records.read([this.key]);
    this.#learn(knownOf(found), askedAt);
    return this.#known!.state;
  }

  /** What is known no longer holds: the gate was changed. */
  forget(): void {
    this.#known = null;
    this.#knownAt = -Infinity;
  }

  /** A step that leaves the state as it is writes nothing, but rests on a state that is fresh. */
  async change<Out>(
    step: (state: GateState, now: number, mark: string) => readonly [GateState, Out],
  ): Promise<Out> {
    const { runtime } = this.#options;
    const mark = runtime.id();
    for (let tries = 1; ; tries += 1) {
      const now = await this.now();
      const known = this.#known ?? ABSENT;
      const [after, out] = step(known.state, now, mark);
      if (after === known.state) {
        if (this.ageMs <= this.freshMs) return out;
        await this.read();
        continue;
      }
      const state = { ...after, mark };
      const askedAt = runtime.monotonic();
      const result = await this.#swap(state, known.version, rememberMs(state, this.gate, now));
      if (result === "written") return out;
      if (result.swapped) {
        this.#learn({ state, version: result.version }, askedAt);
        return out;
      }
      this.#learn(knownOf(result.current), askedAt);
      if (tries >= IN_A_ROW) await sleep(runtime, Math.ceil(runtime.random() * CROWDED_MS));
    }
  }

  async #swap(state: GateState, expect: number | null, ttlMs: number) {
    const { records } = this.#options;
    try {
      const value = JSON.stringify(state);
      const [result] = await records.swap([{ key: this.key, expect, value, ttlMs }]);
      return result!;
    } catch (error) {
      this.forget();
      if (!(error instanceof StoreUnavailableError) || !error.mayHaveHappened) throw error;
      const found = await this.read().catch(() => null);
      if (found?.mark === state.mark) return "written" as const;
      throw error;
    }
  }

  #learn(known: Known, at: number): void {
    this.#known = known;
    this.#knownAt = at;
  }
}
