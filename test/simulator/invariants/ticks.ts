/**
 * A schedule fires once per fleet: none of its ticks is early by the store's clock, and they come one after the
 * other without a gap, whatever process fires them. The one here catches up with every tick that was missed.
 */
import { TICKS_EVERY_MS } from "../contracts.ts";
import type { Court, Watcher } from "../watcher.ts";

/** Of more than these the oldest are missed. */
const MOST_CAUGHT_UP = 100;

export function ticks({ book, complain }: Court): Watcher {
  const name = "a tick fires once, in its time";
  let last: number | null = null;
  return {
    inserted({ id, meta }, { outcome }) {
      const at = tickOf(meta);
      if (at === null || outcome !== "added") return;
      const { now } = book.clock;
      if (at > now) complain(name, `a tick fires ${at - now} ms early`, id);
      if (last !== null && at <= last) complain(name, `a tick fires for the second time`, id);
      const gap = last === null ? 1 : (at - last) / TICKS_EVERY_MS;
      const isMissed = now - (last ?? now) > MOST_CAUGHT_UP * TICKS_EVERY_MS;
      if (gap > 1 && !isMissed) complain(name, `${gap - 1} ticks before it never fired`, id);
      last = at;
    },
  };
}

export function tickOf(meta: string | null): number | null {
  const tick = /"tick":"([^"]+)"/.exec(meta ?? "")?.[1];
  return tick === undefined ? null : Date.parse(tick);
}
