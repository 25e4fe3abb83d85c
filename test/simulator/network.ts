/**
 * What lies between the processes and the store: latency, loss, outages. In calm weather every call
 * arrives and is answered within a few milliseconds.
 */
import type { Draw } from "./draw.ts";
import type { Weather } from "./settings.ts";

/** What becomes of one call. */
export type Fate = "done" | "refused" | "request lost" | "reply lost" | "arrives late";

/** For a while, for one verb (as if its rows were locked) or for all. */
interface Spell {
  readonly until: number;
  readonly verb: string | null;
}

const NO_SPELL: Spell = { until: 0, verb: null };

/** A spell of bad weather makes every fault this much more likely. */
const FLAKY_FACTOR = 15;

export interface NetworkOptions {
  readonly draw: Draw;
  readonly leaseMs: number;
  /** Milliseconds of virtual time. */
  readonly now: () => number;
}

export class Network {
  readonly #draw: Draw;
  readonly #leaseMs: number;
  readonly #now: () => number;
  #weather: Weather | null = null;
  #awayUntil = 0;
  #slow: Spell = NO_SPELL;
  #flaky: Spell = NO_SPELL;
  #leaseless: Spell = NO_SPELL;
  /** End of the last outage that was longer than a lease. */
  #longAwayUntil = 0;

  constructor(options: NetworkOptions) {
    this.#draw = options.draw;
    this.#leaseMs = options.leaseMs;
    this.#now = options.now;
  }

  /** Null is calm: whatever was wrong is over. */
  setWeather(weather: Weather | null): void {
    this.#weather = weather;
    if (weather) return;
    this.#awayUntil = Math.min(this.#awayUntil, this.#now());
    // Cut short, it was no longer than any other.
    if (this.#longAwayUntil > this.#now()) this.#longAwayUntil = 0;
    this.#slow = this.#flaky = this.#leaseless = NO_SPELL;
  }

  get isAway(): boolean {
    return this.#now() < this.#awayUntil;
  }

  /** When the last outage that was longer than a lease ended; null: none has ended yet. */
  get longOutageEndedAt(): number | null {
    const endedAt = this.#longAwayUntil;
    return endedAt === 0 || endedAt > this.#now() ? null : endedAt;
  }

  startOutage(ms: number): void {
    this.#awayUntil = Math.max(this.#awayUntil, this.#now() + ms);
    if (ms > this.#leaseMs) this.#longAwayUntil = this.#awayUntil;
  }

  slowDown(ms: number, verb: string | null): void {
    this.#slow = { until: this.#now() + ms, verb };
  }

  loseMore(ms: number, verb: string | null): void {
    this.#flaky = { until: this.#now() + ms, verb };
  }

  /** Jobs are leased, and hardly anybody hears of it. */
  loseLeases(ms: number): void {
    this.#leaseless = { until: this.#now() + ms, verb: "lease" };
  }

  fate(verb: string): Fate {
    const weather = this.#weather;
    if (!weather) return "done";
    if (this.#isUnder(this.#leaseless, verb) && this.#draw.chance(0.75)) {
      return this.#draw.chance(0.7) ? "reply lost" : "arrives late";
    }
    const factor = this.#isUnder(this.#flaky, verb) ? FLAKY_FACTOR : 1;
    let left = this.#draw.random();
    for (const [fate, probability] of [
      ["refused", weather.refuse],
      ["request lost", weather.loseRequest],
      ["reply lost", weather.loseReply],
      ["arrives late", weather.arriveLate],
    ] as const) {
      // Not more than a tenth each, or nothing at all would get through a spell.
      left -= Math.min(0.1, probability * factor);
      if (left < 0) return fate;
    }
    return "done";
  }

  /** What one of several servers answers gets lost, and the others are heard. */
  losesPartOf(queues: readonly string[]): readonly string[] {
    const weather = this.#weather;
    if (weather === null || queues.length < 2) return [];
    if (!this.#draw.chance(Math.min(0.1, weather.loseReply * FLAKY_FACTOR))) return [];
    return [this.#draw.pick(queues)];
  }

  losesHint(): boolean {
    return this.#weather !== null && this.#draw.chance(this.#weather.loseHint);
  }

  /** One way. */
  latencyMs(verb: string | null = null): number {
    const draw = this.#draw;
    const weather = this.#weather;
    if (this.#isUnder(this.#slow, verb)) return draw.between(0, this.#leaseMs / 3);
    if (weather && draw.chance(weather.slow)) return draw.magnitude(20, this.#leaseMs * 2.5);
    return draw.between(0, 3);
  }

  /** How long a caller waits before it gives up on an answer. */
  patienceMs(): number {
    return this.#draw.magnitude(30, this.#leaseMs);
  }

  /** How long after that a call that was given up is done at last. */
  latenessMs(): number {
    // Some so soon that the attempt is still running, some so late that it has long been reaped.
    return this.#draw.between(0, this.#draw.chance(0.5) ? 0.1 : 2) * this.#leaseMs;
  }

  /** Does somebody who calls while the store is away hear so at once, or must they give up waiting? */
  refusesAtOnce(): boolean {
    return this.#draw.chance(0.6);
  }

  /** Has what a process sent right before it died left the machine? */
  survivesDeath(): boolean {
    return this.#draw.chance(0.5);
  }

  #isUnder({ until, verb: only }: Spell, verb: string | null): boolean {
    return this.#now() < until && (only === null || only === verb);
  }
}
