/** How many commands a Redis server runs for some work, those inside scripts included. */
import type { Redis } from "ioredis";

export async function commandsFor(admin: Redis, work: () => Promise<unknown>): Promise<number> {
  await admin.config("RESETSTAT");
  await work();
  const stats = await admin.info("commandstats");
  const counts = [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)];
  // Those of the question itself do not count, nor what a client says of itself when it connects.
  const own = /^(config|info|client|ping|subscribe)/;
  return counts.reduce(
    (sum, [, name = "", calls]) => sum + (own.test(name) ? 0 : Number(calls)),
    0,
  );
}
