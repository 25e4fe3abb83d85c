/**
 * What a record brings with it, decided by chance that is seeded with `simulationId:index`: the same on every
 * run, machine and store. Each possible activity has numbers of its own, so that a knob for one type changes
 * nothing about another.
 */
import { IndexedChance } from "./chance.ts";
import { ACTIVITIES, MOST_PER_RECORD, type ScenarioParams } from "./scenario.ts";

/** A mask of bits for each type, in the order of `ACTIVITIES`: bit n is the activity with ordinal n. */
export type Masks = readonly number[];

export interface Wanted {
  readonly masks: Masks;
  /** Before and after thinning. */
  readonly before: number;
  readonly after: number;
}

const DRAWS = 4;
const [HAPPENS, DELAY, THINNED] = [0, 1, 2] as const;
const DEAL = 10_000;

export class RecordChance {
  readonly #chance: IndexedChance;

  constructor(simulation: string, index: number) {
    this.#chance = new IndexedChance(`${simulation}:${index}`);
  }

  isDealWon(winRate: number): boolean {
    return this.#chance.at(DEAL) < winRate;
  }

  /** `factor`: how much of what is optional is done, from 0 to 1. */
  wanted(params: ScenarioParams, factor: number): Wanted {
    let [before, after] = [0, 0];
    const masks = ACTIVITIES.map((type, at) => {
      let mask = 0;
      for (let ordinal = 0; ordinal < params.caps[type]; ordinal += 1) {
        if (this.#draw(at, ordinal, HAPPENS) >= params.probabilities[type]) continue;
        before += 1;
        // Another number than the one that let it happen: every kind is thinned alike, and its shape stays.
        if (this.#draw(at, ordinal, THINNED) >= factor) continue;
        after += 1;
        mask |= 1 << ordinal;
      }
      return mask;
    });
    return { masks, before, after };
  }

  delayMs(type: number, ordinal: number, [from, to]: readonly [number, number]): number {
    return from + Math.floor(this.#draw(type, ordinal, DELAY) * (to - from + 1));
  }

  #draw(type: number, ordinal: number, which: number): number {
    return this.#chance.at((type * MOST_PER_RECORD + ordinal) * DRAWS + which);
  }
}

export function bitsOf(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

export function ordinalsOf(mask: number): number[] {
  return Array.from({ length: MOST_PER_RECORD }, (_, at) => at).filter((at) => mask & (1 << at));
}

/** Only its first `count` bits. */
export function firstBits(mask: number, count: number): number {
  return ordinalsOf(mask)
    .slice(0, Math.max(0, count))
    .reduce((kept, ordinal) => kept | (1 << ordinal), 0);
}
