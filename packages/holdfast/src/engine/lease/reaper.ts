/**
 * Puts back what crashed workers left. Only after unbroken contact for the longest lease of the fleet:
 * after an outage every lease looks expired, and live workers must have had their chance to renew.
 */
import type { Events } from "../events.ts";
import type { Chore } from "../extension.ts";
import type { Runtime } from "../runtime.ts";
import type { WatchedStore } from "../watched-store.ts";
import type { Fleet } from "./fleet.ts";

const REAP_EVERY_MS = 1_500;
/** Where other processes do it too: several, because a dead one is on record for a while. */
const SHARED_REAP_EVERY_MS = 1_750;
const REAP_STEP = 200;

export interface ReaperOptions {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly events: Events;
  readonly fleet: Fleet;
}

export function reaper({ watched, runtime, events, fleet }: ReaperOptions): Chore {
  const usualMs = () => (fleet.processes.length > 2 ? SHARED_REAP_EVERY_MS : REAP_EVERY_MS);
  const everyMs = () => Math.min(usualMs(), fleet.shortestOwnLeaseMs / 5);
  /** When each of several servers had answered: what one of them says is no word on the others. */
  let wholeSince = -Infinity;
  const contactMs = () => {
    const now = runtime.monotonic();
    const lengthMs = watched.contact.lengthMs(now);
    if (!watched.hasSeveralServers) return lengthMs;
    return wholeSince < now - lengthMs ? 0 : now - wholeSince;
  };
  const missingMs = () => fleet.longestLeaseMs - contactMs();
  return {
    name: "reap",
    everyMs: REAP_EVERY_MS,
    async run({ isStopped }) {
      const begunAt = runtime.monotonic();
      if (missingMs() > 0) {
        await watched.store.now();
        // The clock is the word of one server; a reaping of none asks each, as the holders must to renew.
        if (watched.hasSeveralServers) {
          await watched.store.reap({ limit: 0 });
          if (contactMs() === 0) wholeSince = runtime.monotonic();
        }
        return Math.min(missingMs(), everyMs());
      }
      let reaped;
      do {
        reaped = await watched.store.reap({ limit: REAP_STEP });
        if (reaped.length > 0) {
          const workers = [...new Set(reaped.map(({ worker }) => worker))];
          const count = reaped.length;
          events.emit("reaped", () => ({ count, workers }));
        }
      } while (reaped.length === REAP_STEP && !isStopped());
      // From one beginning to the next: a slow store must not make the next one late as well.
      const tookMs = runtime.monotonic() - begunAt;
      return Math.max(everyMs() / 3, everyMs() - tookMs);
    },
  };
}
