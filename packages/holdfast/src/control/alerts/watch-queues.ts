/** What is looked at: failures of queues where some failed, and how long and how many wait. */
import { ALERTS_QUEUE } from "../../core/alert.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { AlertSettings } from "./alert-options.ts";
import type { RaiseAlerts } from "./raise-alerts.ts";

/** Failures are counted so far. */
const COUNTED_TO = 10_000;
/** The worst so many queues are told of in one look: a fleet that stands still is one piece of news. */
const MOST_QUEUES = 20;

/** `known`: it was told of within the hour. */
export async function lookForSpike(
  host: ExtensionHost,
  raise: RaiseAlerts,
  spike: NonNullable<AlertSettings["spike"]>,
  queue: string,
): Promise<"below" | "known" | "told"> {
  const { failures: threshold, withinMs } = spike;
  const from = (host.entryTime() ?? (await host.jobs.now())) - withinMs;
  const filter = { kind: "failure", queue, from };
  if ((await host.ledger((book) => book.count(filter, threshold))) < threshold) return "below";
  const failedLastHour = await host.ledger((book) => book.count(filter, COUNTED_TO));
  const isTold = await raise.once(`spike/${queue}`, (about) => ({
    ...{ ...about, kind: "spike", queue, failedLastHour, threshold, withinMs },
    message: `queue ${queue}: ${failedLastHour} attempts failed within ${minutes(withinMs)}`,
  }));
  return isTold ? "told" : "known";
}

/** Answers how many alerts were raised. */
export async function lookAtQueues(
  host: ExtensionHost,
  raise: RaiseAlerts,
  { lagMs, depth }: Pick<AlertSettings, "lagMs" | "depth">,
): Promise<number> {
  if (lagMs === null && depth === null) return 0;
  const now = await host.jobs.now();
  const waiting = (await host.jobs.count())
    .filter(({ queue, ready }) => queue !== ALERTS_QUEUE && ready > 0)
    .map(({ queue, ready, oldestReadyAt }) => ({
      queue,
      ready,
      lag: now - (oldestReadyAt ?? now),
    }));
  let told = 0;
  const late = waiting.filter(({ lag }) => lagMs !== null && lag >= lagMs);
  for (const { queue, lag } of worst(late, ({ lag: one }) => one)) {
    const isTold = await raise.once(`lag/${queue}`, (about) => ({
      ...{ ...about, kind: "lag", queue, oldestWaitingMs: lag, thresholdMs: lagMs! },
      message: `queue ${queue}: a job has waited for ${minutes(lag)}`,
    }));
    if (isTold) told += 1;
  }
  const deep = waiting.filter(({ ready }) => depth !== null && ready >= depth);
  for (const { queue, ready } of worst(deep, ({ ready: one }) => one)) {
    const isTold = await raise.once(`depth/${queue}`, (about) => ({
      ...{ ...about, kind: "depth", queue, waiting: ready, threshold: depth! },
      message: `queue ${queue}: ${ready} jobs wait`,
    }));
    if (isTold) told += 1;
  }
  return told;
}

/** True: an alert was raised. */
export async function lookAtMemory(
  host: ExtensionHost,
  raise: RaiseAlerts,
  threshold: number,
): Promise<boolean> {
  const { name: store, usedMemoryBytes: usedBytes, maxMemoryBytes: maxBytes } = host.storeInfo();
  if (usedBytes == null || maxBytes == null || maxBytes === 0) return false;
  const share = Math.round((usedBytes / maxBytes) * 1_000) / 1_000;
  if (share < threshold) return false;
  return raise.once("memory", (about) => ({
    ...{ ...about, kind: "memory", store, usedBytes, maxBytes, share, threshold },
    message: `${store} uses ${Math.round(share * 100)} % of its memory`,
  }));
}

function worst<One>(all: readonly One[], of: (one: One) => number): readonly One[] {
  return all.toSorted((a, b) => of(b) - of(a)).slice(0, MOST_QUEUES);
}

function minutes(ms: number): string {
  const whole = Math.round(ms / 60_000);
  if (whole < 1) return `${Math.round(ms / 1_000)} s`;
  return whole === 60 ? "the last hour" : `${whole} min`;
}
