/** Puts everything of `control` on an engine: what attaches to attempts, and what people call. */
import { checkAlerts } from "./control/alerts/alert-options.ts";
import { Alerts } from "./control/alerts/alerts.ts";
import { archiveDead } from "./control/archive/archive-dead.ts";
import { DeadLetters } from "./control/dead-letters/dead-letters.ts";
import { failureEntries } from "./control/failures/failure-entries.ts";
import { Failures } from "./control/failures/failures.ts";
import { Gates } from "./control/gates/gates.ts";
import { Locks } from "./control/locks/locks.ts";
import { operationsExtension } from "./control/operations/carry-on.ts";
import { Operations } from "./control/operations/operations.ts";
import { Overflows } from "./control/overflow/overflow.ts";
import { Queues } from "./control/queues/queues.ts";
import { AppRecords } from "./control/records/app-records.ts";
import { Schedules } from "./control/schedules/schedules.ts";
import { Shards } from "./control/shards/shards.ts";
import { statsExtension } from "./control/stats/stats-extension.ts";
import { Stats } from "./control/stats/stats.ts";
import { whyNot } from "./control/why/why.ts";
import { Workers } from "./control/workers/workers.ts";
import { extend, type Engine } from "./engine/create-engine.ts";
import { refuseInOpenTransaction } from "./engine/run/current-attempt.ts";
import {
  checkLockDefaults,
  type checkHoldfastOptions,
  type HoldfastOptions,
  type Resilience,
} from "./holdfast-options.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";

export interface Doors {
  /** The store is open. */
  readonly ready: () => Promise<void>;
  /** Opened already or being opened, for what may ask before its caller did. */
  readonly opened: () => Promise<void>;
  readonly ledgerReady: () => Promise<void>;
}

export function createControl(
  engine: Engine,
  options: HoldfastOptions<readonly AnyContract[], Resilience | undefined>,
  checked: ReturnType<typeof checkHoldfastOptions>,
  { ready, opened, ledgerReady }: Doors,
) {
  const { ledgerWriter, hasStore } = engine;
  const { appVersion } = checked;
  const host = async () => (await ready(), engine.host);
  const hasLedger = ledgerWriter.home !== "nowhere";
  const has = { store: hasStore, ledger: hasLedger };
  const alerts = new Alerts(checkAlerts(options.alerts, has), host);
  const schedules = new Schedules(host, { engine: engine.host, appVersion });
  const shards = new Shards(engine.host);
  const overflows = new Overflows(engine.host, (queue) => shards.whole(queue));
  const gates = new Gates(engine.host, shards, opened);
  const locks = new Locks(engine, ready, checkLockDefaults(options.lock));
  const counting = hasStore && checked.stats ? statsExtension(engine.host) : null;
  extend(engine, [
    ...(hasLedger ? [failureEntries] : []),
    ...(hasStore ? [alerts.extension] : []),
    (own) => operationsExtension(own, { stopped: alerts.operationStopped }),
    () => schedules.extension,
    () => overflows.extension,
    ...(hasStore ? [() => shards.extension] : []),
    // A job that a gate holds back takes no lock.
    () => gates.extension,
    () => locks.keeper,
    ...(options.archive ? [archiveDead(options.archive)] : []),
    ...(counting ? [() => counting] : []),
    ...(options.extensions ?? []),
  ]);
  const operations = new Operations(host);
  const workers = new Workers(host);
  const stats = new Stats({
    ...{ ready, host: engine.host, ledgerHome: ledgerWriter.home },
    store: async () => counting?.store(),
  });
  const failures = new Failures(async () => (await ledgerReady(), engine.host), host);
  const hasFailed = async (fingerprint: string) =>
    hasLedger && (await failures.count({ fingerprint })) > 0;
  return {
    ...{ alerts, schedules, gates, locks, operations, workers, stats, shards, failures },
    why: (id: string) =>
      whyNot(
        {
          ...{ host, gates, workers, stats },
          isLedgerElsewhere: ledgerWriter.home === "elsewhere",
        },
        id,
      ),
    queues: new Queues(host, overflows, shards),
    deadLetters: new DeadLetters(host, { ...checked, operations, hasFailed }),
    records: new AppRecords(async () => (refuseInOpenTransaction(), await host()).records),
  };
}
