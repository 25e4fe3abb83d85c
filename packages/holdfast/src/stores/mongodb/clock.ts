/**
 * The store's clock is the clock of the primary, and never runs backwards: `core/steady-clock.ts` says what it
 * does while the primary's is behind it. Its mark and anchor are kept in the document `head`, so that all
 * processes agree about them.
 *
 * A verb reads the clock before it writes. What it writes is then a moment older than the write, never
 * younger: a lease ends early rather than late, and nothing is reaped before its time. For the tenth of
 * a second after it was asked for, the clock is carried on by the time that has passed here since the
 * answer, which is no later either: busy processes would ask for it hundreds of times a second. An answer
 * that came late, or was read late by a process that stood still, may be long past: it is for those alone
 * who had asked before.
 */
import {
  CLOCK_WAITS_MS,
  PACE_WHILE_AHEAD,
  readSteadily,
  type SteadyClock,
} from "../../core/steady-clock.ts";
import type { Document } from "./driver-like.ts";

const CARRIED_ON_MS = 100;
const SLEPT_MS = 2_000;
/** A mark that is older is written again: whoever comes next must not be told less, or hardly less. */
const MARKED_EVERY_MS = 500;

/** What `head` says of the clock. */
export interface Marked {
  readonly now: number;
  readonly ahead?: NonNullable<SteadyClock["ahead"]>;
}

/** How the clock reaches `head`. */
export interface ClockHead {
  /** As it is, with what the server's clock says; null: there is none yet. */
  read(): Promise<(Marked & { readonly host: number }) | null>;
  /** Moves it on by `clockStages`. */
  mark(): Promise<Marked>;
}

export class Clock {
  /** @internal A clock that a test brings. */
  readonly #still: (() => number) | null;
  #seen = 0;
  /** What was said last, and when it was asked and heard, by our own steady clock. */
  #said = { ms: 0, pace: 1, askedAt: -Infinity, heardAt: 0, wallAt: 0 };
  /** Marks that nobody waits for. */
  readonly #marking = new Set<Promise<unknown>>();

  constructor(still: (() => number) | null) {
    this.#still = still;
  }

  /** In milliseconds. */
  async now(head: ClockHead): Promise<number> {
    const [askedAt, wallAt] = [performance.now(), Date.now()];
    const { ms, pace, heardAt } = this.#said;
    // Our own steady clock stands still while a machine sleeps.
    const hasSlept = Math.abs(wallAt - this.#said.wallAt) > SLEPT_MS;
    const isRecent = !hasSlept && askedAt - this.#said.askedAt < CARRIED_ON_MS;
    if (this.#still === null && isRecent) return this.saw(ms + pace * (askedAt - heardAt));
    const { now, ahead } = await this.#ask(head);
    this.#said = {
      ms: now,
      pace: ahead === undefined ? 1 : PACE_WHILE_AHEAD,
      askedAt,
      heardAt: performance.now(),
      wallAt,
    };
    return this.saw(now);
  }

  async #ask(head: ClockHead): Promise<Marked> {
    const read = await head.read();
    if (read === null) return head.mark();
    const { now, ahead = null } = read;
    const host = this.#reading() ?? read.host;
    const clock = readSteadily({ mark: Math.max(now, this.#seen), ahead }, host);
    if (clock.ahead !== null && clock.ahead !== ahead) return head.mark();
    // Nobody waits for that: also while nothing can be written, what is there can be read.
    if (clock.mark >= now + MARKED_EVERY_MS) {
      const done = (): void => void this.#marking.delete(marking);
      const marking = head.mark().then(done, done);
      this.#marking.add(marking);
    }
    return { now: clock.mark, ...(clock.ahead !== null && { ahead: clock.ahead }) };
  }

  /** Resolves when no mark is on its way: behind a close, one would come into the next life of the database. */
  async idle(): Promise<void> {
    await Promise.all(this.#marking);
  }

  #reading(): number | undefined {
    return this.#still === null ? undefined : Math.floor(this.#still());
  }

  saw(ms: number): number {
    this.#seen = Math.max(this.#seen, Math.floor(ms));
    return this.#seen;
  }

  /** The stages of an update of `head` that move it on to what the clock says now. */
  stages(): Document[] {
    const host = this.#reading() ?? { $toLong: "$$NOW" };
    const bound = { $ifNull: ["$ahead.host", "$now"] };
    const isJump = { $lt: ["$host", { $subtract: [bound, CLOCK_WAITS_MS] }] };
    const anchor = { $cond: [isJump, { mark: "$now", host: "$host" }, "$ahead"] };
    const passed = { $subtract: ["$host", "$ahead.host"] };
    const paced = { $add: ["$ahead.mark", { $multiply: [PACE_WHILE_AHEAD, passed] }] };
    return [
      { $set: { host, now: { $max: ["$now", this.#seen] } } },
      { $set: { ahead: { $cond: [{ $gte: ["$host", "$now"] }, "$$REMOVE", anchor] } } },
      { $set: { now: { $floor: { $max: ["$now", "$host", paced] } } } },
      { $unset: "host" },
    ];
  }
}

/** The next fence after `last`: max(last + 1, clock in µs), so that it grows even if it was lost. */
export function fenceAfter(last: number, now: number): number {
  return Math.max(last + 1, now * 1_000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
