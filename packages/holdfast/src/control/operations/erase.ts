/**
 * Erases a group, a tenant for example: its jobs, what the ledger says of them, its execution locks. It walks through
 * each of them page by page and needs no plan, so it has no bound; what it finds again after its process died is
 * gone already.
 *
 *   jobs ─ none is left ─▶ entries ─▶ locks ─▶ finished
 *
 * A job that runs is asked to stop, and removed when it has ended.
 */
import type { LockRecord } from "../../core/lock.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { lockPrefix } from "../locks/lock-records.ts";
import type { EraseState, OperationRecord } from "./operation.ts";

const PAGE = 100;
/** Entries that were on their way to a ledger elsewhere have arrived by then. */
const LOOK_AGAIN_MS = 15_000;

/** What it has come to; `wait`: nothing more can be done in this turn. */
export interface EraseStep {
  readonly erase: EraseState;
  readonly isOver: boolean;
  readonly wait: boolean;
}

export function eraseStep(host: ExtensionHost, operation: OperationRecord): Promise<EraseStep> {
  const erase = operation.erase!;
  switch (erase.phase) {
    case "jobs":
      return eraseJobs(host, operation, erase);
    case "entries":
      return eraseEntries(host, operation, erase);
    case "locks":
      return eraseLocks(host, operation, erase);
  }
}

async function eraseJobs(
  { jobs, hasLedger }: ExtensionHost,
  operation: OperationRecord,
  erase: EraseState,
): Promise<EraseStep> {
  const filter = { group: groupOf(operation), to: operation.startedAt! };
  const page = await jobs.find(filter, {
    ...{ limit: PAGE, cursor: erase.cursor, without: "payloads" },
  });
  const why = { by: operation.by, reason: operation.reason };
  const refs = (isRunning: boolean) =>
    page.jobs
      .filter(({ status }) => (status === "processing") === isRunning)
      .map(({ id, queue }) => ({ id, queue }));
  const running = refs(true);
  if (running.length > 0) await jobs.cancel({ ids: running }, why);
  const { changes } = await jobs.remove({ ids: refs(false) }, why);
  const removed = changes.filter(({ result }) => result === "done").length;
  const isLeft =
    erase.isLeft || running.length > 0 || changes.some(({ result }) => result === "refused");
  const next = { ...erase, jobs: erase.jobs + removed, cursor: page.nextCursor, isLeft };
  if (page.nextCursor !== null) return { erase: next, isOver: false, wait: false };
  const begun = { ...next, isLeft: false };
  if (isLeft) return { erase: begun, isOver: false, wait: true };
  const phase = hasLedger ? "entries" : "locks";
  return { erase: { ...begun, phase }, isOver: false, wait: false };
}

async function eraseEntries(
  host: ExtensionHost,
  operation: OperationRecord,
  erase: EraseState,
): Promise<EraseStep> {
  const now = await host.jobs.now();
  if (erase.againAt !== null && now < erase.againAt) return { erase, isOver: false, wait: true };
  const filter = { group: groupOf(operation) };
  const { cursor } = erase;
  const page = await host.ledger((ledger) => ledger.read(filter, { limit: PAGE, cursor }));
  const ids = page.entries.map(({ id }) => id);
  const removed = ids.length === 0 ? 0 : await host.ledger((ledger) => ledger.remove(ids));
  const next = { ...erase, entries: erase.entries + removed, cursor: page.nextCursor };
  if (page.nextCursor !== null) return { erase: next, isOver: false, wait: false };
  // An entry that travels has a time of its own: then the ledger is elsewhere.
  const isElsewhere = host.entryTime() !== null;
  if (isElsewhere && erase.againAt === null) {
    return { erase: { ...next, againAt: now + LOOK_AGAIN_MS }, isOver: false, wait: true };
  }
  return { erase: { ...next, phase: "locks" }, isOver: false, wait: false };
}

async function eraseLocks(
  { lastingRecords }: ExtensionHost,
  operation: OperationRecord,
  erase: EraseState,
): Promise<EraseStep> {
  const group = groupOf(operation);
  const { cursor } = erase;
  const request = { prefix: lockPrefix(), limit: PAGE, cursor };
  const page = await lastingRecords((records) => records.scan(request));
  const swaps = page.records
    .filter(({ value }) => {
      const lock = JSON.parse(value) as LockRecord;
      return lock.owner === group || lock.group === group;
    })
    .map(({ key, version }) => ({ key, expect: version, value: null, ttlMs: null }));
  const results = swaps.length === 0 ? [] : await lastingRecords((records) => records.swap(swaps));
  const removed = results.filter(({ swapped }) => swapped).length;
  const next = { ...erase, locks: erase.locks + removed, cursor: page.nextCursor };
  return { erase: next, isOver: page.nextCursor === null, wait: false };
}

function groupOf({ filter }: OperationRecord): string {
  return filter.group!;
}
