/**
 * Disowning: a worker that lost the reply of a lease says what it has, and everything else under its id
 * goes back. Rare, so it looks at every lease; a database asks its index.
 */
import type { DisownRequest } from "../../core/store.ts";
import { takeBack } from "./moves.ts";
import type { MemoryState } from "./state.ts";

/** At least as long as a call may be on its way. */
const REMEMBERED_MS = 3_600_000;

export function disown(state: MemoryState, { worker, except }: DisownRequest): number {
  const now = state.clock.now();
  const kept = new Set(except.map(({ id, fence }) => `${id}:${fence}`));
  state.disowned.set(worker, { except: kept, forgetAt: now + REMEMBERED_MS });
  const leased = [...state.jobs.values()].filter(
    (job) =>
      job.status === "processing" && job.worker === worker && !kept.has(`${job.id}:${job.fence}`),
  );
  for (const job of leased) takeBack(state, job, now);
  return leased.length;
}
