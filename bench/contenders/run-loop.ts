/** The loop of a hand-written worker: lease, handle, settle, and a short rest when there is nothing. */
import { setTimeout as pause } from "node:timers/promises";

const IDLE_MS = 5;

export interface Loop<Lease> {
  lease(): Promise<readonly Lease[]>;
  handle(lease: Lease): void;
  settle(leases: readonly Lease[]): Promise<unknown>;
}

/** Returns the way to stop it. */
export function runLoop<Lease>({ lease, handle, settle }: Loop<Lease>): () => Promise<void> {
  let isStopped = false;
  const ended = (async () => {
    while (!isStopped) {
      const leases = await lease();
      for (const one of leases) handle(one);
      if (leases.length > 0) await settle(leases);
      else await pause(IDLE_MS);
    }
  })();
  return async () => {
    isStopped = true;
    await ended;
  };
}
