/** What a client asks before it calls, and what it tells afterwards. A sync answers by the gates of its fleet. */

/** What the other side says of its own limits. */
export interface ToldLimits {
  /** So many calls … */
  readonly max: number;
  /** … within this time. */
  readonly intervalMs: number;
  readonly daily: number | null;
  readonly dailyRemaining: number | null;
}

export interface Calls {
  /** Resolves when a call may be made. `kind`: a call of its own limit, such as `search`. */
  acquire(kind: string, signal: AbortSignal | undefined): Promise<void>;
  /** The other side asked for patience: no process calls before then. */
  coolDown(afterMs: number): Promise<void>;
  /** What its headers say. */
  heard(limits: ToldLimits): void;
}

/** A client on its own: nothing holds it back but the other side. */
export const freeCalls: Calls = {
  acquire: (_, signal) => {
    signal?.throwIfAborted();
    return Promise.resolve();
  },
  coolDown: () => Promise.resolve(),
  heard: () => {},
};
