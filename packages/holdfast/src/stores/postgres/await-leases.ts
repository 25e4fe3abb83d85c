/**
 * A cap counts leases, and one that has not committed yet cannot be counted. Those that obey a cap are kept
 * apart by its lock; those that began before there was one hold no such lock. So every lease says that it is
 * under way, by a lock that all leases share and that keeps nobody waiting, and whoever sets a cap waits until
 * those that were under way then have ended. A lease that begins later reads the cap.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { LimitChange } from "../../core/line.ts";
import type { Database } from "./database.ts";
import { text } from "./row-values.ts";

const KEY = "hashtextextended('lease', 'holdfast.leased'::regclass::oid::bigint << 32)";

/** Part of the function in `lease-function.ts`. */
export const LEASES_HERE = `pg_try_advisory_xact_lock_shared(${KEY})`;

const UNDER_WAY = `
  SELECT l.virtualtransaction FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 1
    AND (l.classid::bigint << 32 | l.objid::bigint) = ${KEY}
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())`;
/** Most leases take less. */
const LOOK_EVERY_MS = 5;

/** After the commit of the caps. */
export async function awaitLeases(db: Database): Promise<void> {
  const { deadlineMs } = db.options;
  const giveUpAt = performance.now() + deadlineMs;
  let earlier: ReadonlySet<string> | null = null;
  for (;;) {
    const underWay = (await db.rows(UNDER_WAY)).map((row) => text(row, 0));
    const left: readonly string[] = underWay.filter((one) => earlier?.has(one) ?? true);
    if (left.length === 0) return;
    if (performance.now() >= giveUpAt) {
      throw new StoreUnavailableError(
        `the cap is set, but a lease that began before it has not ended within ${deadlineMs} ms: try again`,
        { mayHaveHappened: true },
      );
    }
    earlier = new Set(left);
    await sleep(LOOK_EVERY_MS);
  }
}

export function setsCap({ maxActive, maxActivePerGroup }: LimitChange): boolean {
  return typeof maxActive === "number" || typeof maxActivePerGroup === "number";
}
