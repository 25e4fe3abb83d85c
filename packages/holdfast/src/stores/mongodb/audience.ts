/**
 * Who listens. A word that nobody hears is work for nothing, and a busy producer says a hundred a second. So
 * whoever listens writes that down in `head`, for some seconds at a time, and the numbers of new jobs come
 * with the news whether somebody else does.
 *
 * It is a hint about hints: whoever has written it too late, or was not read, finds its work by polling.
 */
import type { Document } from "./driver-like.ts";

/** For how long a listener is known as one. */
export const HEARS_MS = 5_000;
/** So often it says so again: one that is late, or lost, does no harm. */
export const SAID_AGAIN_MS = 2_000;

/** Until when each of them listens. */
export type Listeners = Readonly<Record<string, number>>;

/** What makes `self` one of those who listen; those whose time is over are forgotten. */
export function listening(self: string, now: Document): Document[] {
  const others = {
    $filter: {
      input: { $objectToArray: { $ifNull: ["$audience", {}] } },
      cond: { $and: [{ $ne: ["$$this.k", self] }, { $gt: ["$$this.v", now] }] },
    },
  };
  const own = [{ k: self, v: { $add: [now, HEARS_MS] } }];
  return [{ $set: { audience: { $arrayToObject: { $concatArrays: [others, own] } } } }];
}

/** For how long it is believed that nobody else listens: for an insert, also a slow one. */
export const NEWS_MS = 500;

/** What a process has heard of those who hear it. */
export class Audience {
  readonly #elapsed: () => number;
  /** When it asked, if the answer was that there is nobody. */
  #emptyAt = -Infinity;

  /** By a steady clock, in milliseconds. */
  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  /** As of a moment ago nobody else has listened. False if that was not asked. */
  get isEmpty(): boolean {
    return this.#elapsed() - this.#emptyAt <= NEWS_MS;
  }

  /** Answers what to do with the news once they are there. */
  ask(): (isHeard: boolean) => void {
    const askedAt = this.#elapsed();
    return (isHeard) => {
      this.#emptyAt = isHeard ? -Infinity : askedAt;
    };
  }
}

/** Does anybody but `self` listen? */
export function isHeard(
  listeners: Listeners,
  { self, now }: { self: string; now: number },
): boolean {
  return Object.entries(listeners).some(([who, until]) => who !== self && until > now);
}
