/**
 * How much pressure there is: activities that wait, and whether the other side is down. Looked at while jobs with
 * activities run, every few seconds at most; a process without such jobs asks for nothing.
 */
import type { Holdfast } from "holdfast";
import { OUTBOUND_GATE, SECONDARY_QUEUES } from "./names.ts";
import { thinningFactor, type Pressure, type ThinningRule } from "./thinning.ts";

/** Simulations whose activities are looked at; with more than these there is pressure anyhow. */
const MOST_LINES = 200;

export class PressureGauge {
  readonly #hf: Holdfast;
  readonly #rule: ThinningRule | null;
  #lookedAt = -Infinity;
  #pressure: Promise<Pressure> | null = null;

  constructor(hf: Holdfast, rule: ThinningRule | null) {
    this.#hf = hf;
    this.#rule = rule;
  }

  /** From 0 to 1: how much of what is optional is done now. */
  async factor(): Promise<number> {
    if (this.#rule === null) return 1;
    return thinningFactor(this.#rule, await this.pressure());
  }

  pressure(): Promise<Pressure> {
    const now = performance.now();
    if (this.#pressure === null || now - this.#lookedAt >= (this.#rule?.lookMs ?? Infinity)) {
      this.#lookedAt = now;
      this.#pressure = this.#look().catch((error: unknown) => {
        this.#pressure = null;
        throw error;
      });
    }
    return this.#pressure;
  }

  async #look(): Promise<Pressure> {
    const [gate, ...queues] = await Promise.all([
      this.#hf.gates.get(OUTBOUND_GATE),
      ...SECONDARY_QUEUES.map((queue) => this.#hf.lines(queue, { limit: MOST_LINES })),
    ]);
    return {
      waiting: queues.flatMap(({ lines }) => lines).reduce((sum, { waiting }) => sum + waiting, 0),
      isDown: gate !== null && (gate.state === "open" || gate.cooldownUntil !== null),
    };
  }
}
