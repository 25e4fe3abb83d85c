/**
 * What holds a sync back, kept by the whole fleet: one gate on its queue (cooldown and breaker: jobs wait, unspent)
 * and gates for its calls (rates: a job makes several calls, and the other side counts those).
 */
import { RetryAfterError, type BreakerOptions, type Holdfast, type RateOptions } from "holdfast";
import type { Calls, ToldLimits } from "../calls.ts";

export interface SyncLimits {
  /** Of all calls. */
  readonly calls: readonly RateOptions[];
  /** Of calls of a kind, besides: `search`. */
  readonly kinds: Readonly<Record<string, RateOptions>>;
  /** The longest patience that the other side may ask for. */
  readonly cooldownMs: number;
  readonly breaker: BreakerOptions | null;
  /** What the other side says of itself changes the rate. */
  readonly isTold: boolean;
}

/** By so much may one call be slower than another before the other side sees more of them than were let through. */
export const ON_ITS_WAY_MS = 250;
/** The longest that calls wait together inside of jobs; what is longer holds the queue. */
const IN_CALL_MS = 60_000;

export class SyncGates {
  readonly #hf: Holdfast;
  readonly #name: string;
  readonly #queue: string;
  readonly #limits: SyncLimits;
  #setting: Promise<void> | null = null;
  /** The rate that is set, as text. */
  #rate: string;

  constructor(hf: Holdfast, options: { name: string; queue: string; limits: SyncLimits }) {
    this.#hf = hf;
    this.#name = options.name;
    this.#queue = options.queue;
    this.#limits = options.limits;
    this.#rate = JSON.stringify(options.limits.calls);
  }

  /** Once in a process; gates that are set already stay as they are. */
  set(): Promise<void> {
    this.#setting ??= this.#set().catch((error: unknown) => {
      this.#setting = null;
      throw error;
    });
    return this.#setting;
  }

  /** What a client of this sync asks. */
  calls(): Calls {
    const { kinds } = this.#limits;
    return {
      acquire: async (kind, signal) => {
        await this.set();
        const options = signal ? { signal } : {};
        if (Object.hasOwn(kinds, kind)) await this.#hf.gates.acquire(this.#gateOf(kind), options);
        await this.#hf.gates.acquire(this.#gateOf("calls"), options);
      },
      coolDown: async (afterMs) => {
        const error = new RetryAfterError(afterMs);
        await this.#hf.gates.report(this.#gateOf("calls"), error);
      },
      heard: (limits) => this.#heard(limits),
    };
  }

  async #set(): Promise<void> {
    const { calls, kinds, cooldownMs, breaker } = this.#limits;
    const { gates } = this.#hf;
    await gates.set(this.#name, {
      ...{ queue: this.#queue, cooldown: { maxMs: cooldownMs } },
      ...(breaker !== null && { breaker }),
    });
    const name = this.#gateOf("calls");
    // What a process has heard of the other side before this one started stays.
    const known = this.#limits.isTold ? await gates.get(name) : null;
    if (known !== null) this.#rate = JSON.stringify(known.rate);
    if (known === null) await gates.set(name, { rate: calls, cooldown: { maxMs: IN_CALL_MS } });
    for (const [kind, rate] of Object.entries(kinds)) {
      await gates.set(this.#gateOf(kind), { rate });
    }
  }

  #gateOf(word: string): string {
    return `${this.#name}.${word}`;
  }

  #heard(told: ToldLimits): void {
    if (!this.#limits.isTold) return;
    const rates = ratesOf(told);
    const text = JSON.stringify(rates);
    if (text === this.#rate) return;
    this.#rate = text;
    const options = { rate: rates, cooldown: { maxMs: IN_CALL_MS } };
    const why = { by: "crm", reason: "its headers say so" };
    this.#hf.gates.set(this.#gateOf("calls"), options, why).catch((error: unknown) => {
      this.#rate = "";
      this.#hf.tools.logger.warn(`the rate of ${this.#name} could not be set`, { error });
    });
  }
}

/**
 * Never more than it says in any window: a tenth of it as the burst, the rest as the rate. The window is longer than
 * theirs by what calls are on their way: they count when a call arrives, and a late one arrives beside those after it.
 */
export function ratesOf({
  max,
  intervalMs,
  daily,
}: Omit<ToldLimits, "dailyRemaining">): RateOptions[] {
  const burst = Math.max(1, Math.floor(max / 10));
  const calls = { limit: Math.max(1, max - burst), perMs: intervalMs + ON_ITS_WAY_MS, burst };
  if (daily === null || daily < 2) return [calls];
  // Half of it at once after a quiet day, half of it spread over the day.
  const half = Math.floor(daily / 2);
  return [calls, { limit: half, perMs: 86_400_000, burst: half }];
}
