/**
 * The store's clock is the clock of the primary, and never runs backwards. The highest time that was handed
 * out, the mark, is kept in the document `head`, so that all processes agree about it.
 *
 * A reading that is a little below the mark waits until it has caught up. One that is more than a second
 * below it says that the clock was ahead and was put right. Then mark and reading are kept as an anchor, and
 * the store's time goes on from the mark at nine tenths of the usual pace, until the right time has caught
 * up: nothing stands still, nothing happens twice, and in the end the time is right.
 *
 * A verb reads the clock before it writes. What it writes is then a moment older than the write, never
 * younger: a lease ends early rather than late, and nothing is reaped before its time. For the tenth of
 * a second after it was asked for, the clock is carried on by the time that has passed here since the
 * answer, which is no later either: busy processes would ask for it hundreds of times a second. An answer
 * that came late, or was read late by a process that stood still, may be long past: it is for those alone
 * who had asked before.
 */
import type { Document } from "./driver-like.ts";

const CARRIED_ON_MS = 100;
/** So far below the mark a reading only waits. */
const BACK_MS = 1_000;
/** Of the usual pace, while the right time catches up. */
const PACE = 0.9;
/** A mark that is older is written again: whoever comes next must not be told less, or hardly less. */
const MARKED_EVERY_MS = 500;

/** Where the clock was when it was put right, and what it said then. */
interface Anchor {
  readonly mark: number;
  readonly wall: number;
}

/** What `head` says of the clock. */
export interface Marked {
  readonly now: number;
  readonly ahead?: Anchor;
}

/** How the clock reaches `head`. */
export interface ClockHead {
  /** As it is, with what the server's clock says; null: there is none yet. */
  read(): Promise<(Marked & { readonly wall: number }) | null>;
  /** Moves it on by `clockStages`. */
  mark(): Promise<Marked>;
}

export class Clock {
  /** @internal A clock that a test brings. */
  readonly #still: (() => number) | null;
  #seen = 0;
  /** What was said last, and when it was asked and heard, by our own steady clock. */
  #said = { ms: 0, pace: 1, askedAt: -Infinity, heardAt: 0 };

  constructor(still: (() => number) | null) {
    this.#still = still;
  }

  /** In milliseconds. */
  async now(head: ClockHead): Promise<number> {
    const askedAt = performance.now();
    const { ms, pace, heardAt } = this.#said;
    const isRecent = this.#still === null && askedAt - this.#said.askedAt < CARRIED_ON_MS;
    if (isRecent) return this.saw(ms + pace * (askedAt - heardAt));
    const { now, ahead } = await this.#ask(head);
    this.#said = {
      ms: now,
      pace: ahead === undefined ? 1 : PACE,
      askedAt,
      heardAt: performance.now(),
    };
    return this.saw(now);
  }

  async #ask(head: ClockHead): Promise<Marked> {
    const read = await head.read();
    if (read === null) return head.mark();
    const { now, ahead } = read;
    const at = timeOf(this.#reading() ?? read.wall, ahead);
    if (at < Math.max(now, this.#seen) - BACK_MS) return head.mark();
    // Nobody waits for that: also while nothing can be written, what is there can be read.
    if (at >= now + MARKED_EVERY_MS) head.mark().catch(() => {});
    return { now: Math.max(now, at), ...(ahead && { ahead }) };
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
    const wall = this.#reading() ?? { $toLong: "$$NOW" };
    const mark = { $max: ["$now", this.#seen] };
    const passed = { $subtract: ["$wall", "$ahead.wall"] };
    const paced = { $floor: { $add: ["$ahead.mark", { $multiply: [PACE, passed] }] } };
    const isBack = { $lt: ["$at", { $subtract: ["$now", BACK_MS] }] };
    const isAhead = { $gt: ["$at", "$wall"] };
    const anchor = { mark: "$now", wall: "$wall" };
    return [
      { $set: { wall, now: mark } },
      { $set: { at: { $max: ["$wall", paced] } } },
      { $set: { ahead: { $cond: [isBack, anchor, { $cond: [isAhead, "$ahead", "$$REMOVE"] }] } } },
      { $set: { now: { $max: ["$now", "$at"] } } },
      { $unset: ["wall", "at"] },
    ];
  }
}

/** The store's time when the server's clock says this. */
function timeOf(wall: number, ahead: Anchor | undefined): number {
  if (ahead === undefined) return wall;
  return Math.max(wall, Math.floor(ahead.mark + PACE * (wall - ahead.wall)));
}

/** The next fence after `last`: max(last + 1, clock in µs), so that it grows even if it was lost. */
export function fenceAfter(last: number, now: number): number {
  return Math.max(last + 1, now * 1_000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
