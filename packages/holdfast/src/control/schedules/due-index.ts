/**
 * What a process knows of schedules between two looks: when each wants it next. Most processes of a fleet need
 * not come to a tick at all. Each draws its place for each tick, the same in every process without a word: the
 * first comes at once, three more come a second apart in case it does not live, and the others pass.
 */
import { dueAt, type ScheduleState } from "../../core/schedule.ts";
import { DueTimes } from "./due-times.ts";
import { tickAfter } from "../../core/schedule-rule.ts";

const PLACE_MS = 1_000;
const PLACES = 4;
/**
 * The others look this much later, unless another tick comes before: those with a place may be gone since they
 * drew it. Long before a tick is too late to be fired.
 */
const OTHERS_MS = 15_000;
const SOON_MS = 5 * 60_000;
/** How many ticks are looked at for one in which this process has a place. */
const MOST_AHEAD = 20;

export class DueIndex {
  readonly #process: string;
  readonly #others: () => readonly string[];
  readonly #times = new DueTimes();
  /** By name: does code declare it, and does it fire? */
  readonly #known = new Map<string, boolean>();

  constructor(process: string, others: () => readonly string[]) {
    this.#process = process;
    this.#others = others;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Names of those that code declares, and that fire. */
  get declared(): string[] {
    return [...this.#known].flatMap(([name, isDeclared]) => (isDeclared ? [name] : []));
  }

  clear(): void {
    this.#known.clear();
    this.#times.clear();
  }

  note(state: ScheduleState): void {
    this.#known.set(state.name, state.origin === "code" && state.disabledAt === null);
    this.#times.set(state.name, this.#wantsAt(state));
  }

  forget(name: string): void {
    this.#known.delete(name);
    this.#times.delete(name);
  }

  /** Earliest first. */
  dueBy(now: number): string[] {
    return this.#times.dueBy(now);
  }

  get nextAt(): number {
    return this.#times.nextAt;
  }

  #wantsAt(state: ScheduleState): number {
    const due = dueAt(state, this.#process);
    if (due === null) return Infinity;
    if (state.claim) return due;
    const { definition, anchor } = state;
    let tick: number | null = due;
    for (let ahead = 0; tick !== null && tick - due <= SOON_MS && ahead < MOST_AHEAD; ahead += 1) {
      const place = this.#placeIn(state.name, tick);
      if (place < PLACES) return tick + place * PLACE_MS;
      tick = tickAfter(definition.rule, { anchor, after: tick });
    }
    return due + OTHERS_MS;
  }

  #placeIn(name: string, tick: number): number {
    const lot = `${name}/${tick}/`;
    const own = drawn(lot, this.#process);
    let place = 0;
    for (const other of this.#others()) {
      if (other !== this.#process && drawn(lot, other) < own) place += 1;
    }
    return place;
  }
}

/** FNV-1a over both, from 0 to 2^32. */
function drawn(lot: string, process: string): number {
  let hash = 0x811c9dc5;
  for (const text of [lot, process]) {
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
  }
  // FNV mixes its last letters badly, and ids differ in those.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}
