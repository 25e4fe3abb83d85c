/**
 * A clock that never runs backwards, although its host's may be set. Where the host's clock was ahead and
 * is put right, this one cannot go back with it: what is over stays over. It must not stand still either,
 * or nothing would fall due until the host has caught up, a day later perhaps. So it goes on from where it
 * was at nine tenths of the usual pace, and meets the host's clock again after ten times the jump.
 *
 * Slower is the safe side: a lease never ends in the store before it ends in the eyes of its holder.
 * Every store keeps to this; those that read their server's clock say the same in their own language.
 */
export interface SteadyClock {
  /** The highest time that was read. */
  readonly mark: number;
  /** While the mark is ahead of its host: where both stood when that was noticed. */
  readonly ahead: { readonly mark: number; readonly host: number } | null;
}

/** Less than this is no jump: the clock waits for its host. */
export const CLOCK_WAITS_MS = 1_000;
export const PACE_WHILE_AHEAD = 0.9;

export const UNREAD_CLOCK: SteadyClock = { mark: 0, ahead: null };

/** What the clock says after its host said this, in milliseconds. */
export function readSteadily({ mark, ahead }: SteadyClock, host: number): SteadyClock {
  if (host >= mark) return { mark: host, ahead: null };
  const isNewJump =
    ahead === null ? mark - host > CLOCK_WAITS_MS : host < ahead.host - CLOCK_WAITS_MS;
  if (isNewJump) return { mark, ahead: { mark, host } };
  if (ahead === null) return { mark, ahead };
  return { mark: Math.max(mark, ahead.mark + PACE_WHILE_AHEAD * (host - ahead.host)), ahead };
}
