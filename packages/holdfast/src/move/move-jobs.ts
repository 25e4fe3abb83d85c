/**
 * From one store to another. Killed at any point it is run again: a job is adopted once, by its id, and what is
 * there already stays as it is. Before the first job leaves, every queue of the old store is held, so that no
 * worker there runs what the new store has, too.
 *
 *   hold ─▶ empty the outbox ─▶ copy, again until a pass finds nothing new ─▶ rules ─▶ verify
 */
import { randomUUID } from "node:crypto";
import { InvalidOptionError, MoveRefusedError } from "../core/errors.ts";
import { checkFlag, checkFunction, checkOptions, checkText } from "../core/option-checks.ts";
import type { Store } from "../core/store.ts";
import { adoptJobs } from "./adopt-jobs.ts";
import { exportJobs, type ExportOptions } from "./export-jobs.ts";
import { checkQueueNames, checkStoreGiven } from "./check-store-given.ts";
import { addDigests, digestText, jobDigest } from "./job-digest.ts";
import { adoptedOf } from "./export-jobs.ts";
import { emptyOutbox } from "./empty-outbox.ts";
import { copyLedger, copyLines, copyRecords } from "./move-rules.ts";

export interface MoveOptions extends ExportOptions {
  readonly from: Store;
  readonly to: Store;
  /** The ledger, too. Default false. */
  readonly ledger?: boolean | undefined;
  /** Why the queues of the old store are held: shown to people there. */
  readonly reason?: string | undefined;
  readonly onProgress?: ((step: MoveStep) => void) | undefined;
}

export interface MoveStep {
  readonly phase: "copy" | "ledger" | "verify";
  readonly done: number;
  /** Null: not known. */
  readonly of: number | null;
}

export interface MoveReport {
  /** Seen in the old store, in the last pass. */
  readonly jobs: number;
  readonly added: number;
  /** Were there before. */
  readonly there: number;
  /** Were there, and were removed there since. */
  readonly gone: number;
  readonly withoutKey: number;
  readonly records: number;
  readonly entries: number;
  /** Of what both stores have, from either: equal if nothing is missing or different. */
  readonly checksums: { readonly from: string; readonly to: string };
  /** The first of those that differ or are missing. */
  readonly different: readonly string[];
}

const OPTIONS = ["from", "to", "finished", "queues", "ledger", "reason", "onProgress"];
const MOST_NAMED = 20;
const MOST_PASSES = 10;
export const MOVE_OWNER = "pause";
export const MOVED = "moved";

/** Both stores must be open, and no worker may run on the old one. */
export async function moveJobs(options: MoveOptions): Promise<MoveReport> {
  checkOptions("moveJobs", options, OPTIONS);
  const { from, to, onProgress = () => {}, reason = "to another store" } = options;
  checkStoreGiven("moveJobs from", from);
  checkStoreGiven("moveJobs to", to);
  checkQueueNames("moveJobs", options.queues);
  // Before any queue is held.
  checkFlag("finished", options.finished ?? false);
  checkFlag("ledger", options.ledger ?? false);
  checkFunction("onProgress", onProgress);
  checkText("reason", reason);
  if (from === to) throw new InvalidOptionError("moveJobs needs two stores, and these are one");
  await refuseSamePlace(options);
  const why = `${MOVED}: ${reason}`;
  await holdAll(options, why);
  await refuseRunning(options);
  await emptyOutbox(from);
  // What came out of it may be the first job of its queue.
  await holdAll(options, why);
  const tally = { jobs: 0, added: 0, there: 0, gone: 0, withoutKey: 0 };
  const of = await countOf(options);
  for (let pass = 1; ; pass++) {
    const added = await copyOnce(options, tally, (done) => onProgress({ phase: "copy", done, of }));
    if (added === 0) break;
    if (pass === MOST_PASSES) {
      throw new MoveRefusedError(
        "jobs keep coming into the old store: point the programs that enqueue to the new one, then move again",
      );
    }
  }
  for (const queue of await queuesOf(options)) {
    await copyLines({ from, to }, queue, (text) => text === why || text.startsWith(`${MOVED}: `));
  }
  const records = await copyRecords(from, to);
  const entries =
    options.ledger === true
      ? await copyLedger(from, to, (done) => onProgress({ phase: "ledger", done, of: null }))
      : 0;
  const verified = await verify(options, (done) => onProgress({ phase: "verify", done, of }));
  return { ...tally, records, entries, ...verified };
}

const PROBE_MS = 60_000;

/**
 * Two stores may be one place under two names: another path, another host. Its queues would be held, and every job
 * found to be the same. So what is written to the one must not be there in the other.
 */
async function refuseSamePlace({ from, to }: MoveOptions): Promise<void> {
  const key = `holdfast/move/probe/${randomUUID()}`;
  const [written] = await to.records.swap([{ key, expect: null, value: "{}", ttlMs: PROBE_MS }]);
  const [seen] = await from.records.read([key]);
  const expect = written?.swapped === true ? written.version : null;
  await to.records.swap([{ key, expect, value: null, ttlMs: null }]);
  if (seen === null) return;
  throw new MoveRefusedError(
    "the old store and the new one are the same: nothing was done; give the new one another place",
  );
}

function exportedOf({ finished, queues }: MoveOptions): ExportOptions {
  return { finished, queues };
}

async function queuesOf({ from, queues }: MoveOptions): Promise<readonly string[]> {
  return queues ?? (await from.count()).map(({ queue }) => queue);
}

async function countOf({ from, finished, queues }: MoveOptions): Promise<number> {
  const counts = (await from.count()).filter(({ queue }) => queues?.includes(queue) ?? true);
  return counts.reduce((sum, { ready, delayed, dead, succeeded, cancelled }) => {
    return sum + ready + delayed + dead + (finished === true ? succeeded + cancelled : 0);
  }, 0);
}

async function holdAll(options: MoveOptions, reason: string): Promise<void> {
  const hold = { forMs: null, reason, by: null };
  const held = (await queuesOf(options)).map((queue) => ({
    ...{ queue, group: null, owner: MOVE_OWNER, hold },
  }));
  await options.from.hold(held);
}

/** A job that runs would be in neither store as it is. Leases that ran out are put back first. */
async function refuseRunning({ from, queues }: MoveOptions): Promise<void> {
  while ((await from.reap({ limit: 200 })).length > 0);
  const counts = (await from.count()).filter(({ queue }) => queues?.includes(queue) ?? true);
  const running = counts.reduce((sum, { processing }) => sum + processing, 0);
  if (running === 0) return;
  throw new MoveRefusedError(
    `${running} jobs of the old store are running or leased: stop its workers, wait until their leases have run out, then move again (its queues are held)`,
  );
}

async function copyOnce(
  options: MoveOptions,
  tally: { jobs: number; added: number; there: number; gone: number; withoutKey: number },
  onProgress: (done: number) => void,
): Promise<number> {
  const { from, to } = options;
  let [jobs, added] = [0, 0];
  const before = { ...tally };
  Object.assign(tally, { there: 0, gone: 0 });
  for await (const page of exportJobs(from, exportedOf(options))) {
    const answers = await adoptJobs(to, page);
    for (const answer of answers) {
      if (answer === "added" || answer === "without key") added++;
      if (answer === "without key") tally.withoutKey++;
      if (answer === "there") tally.there++;
      if (answer === "gone") tally.gone++;
    }
    onProgress((jobs += page.length));
  }
  tally.jobs = jobs;
  tally.added = before.added + added;
  // What an earlier pass added is there in a later one, and is no news.
  tally.there = Math.max(0, tally.there - before.added);
  return added;
}

async function verify(
  options: MoveOptions,
  onProgress: (done: number) => void,
): Promise<Pick<MoveReport, "checksums" | "different">> {
  const { from, to } = options;
  let [ofFrom, ofTo, done] = [0n, 0n, 0];
  const different: string[] = [];
  for await (const page of exportJobs(from, exportedOf(options))) {
    const found = await to.get(page.map(({ id, queue }) => ({ id, queue })));
    for (const [at, job] of page.entries()) {
      const there = found[at];
      const own = jobDigest(job);
      ofFrom = addDigests(ofFrom, own);
      const other =
        there === null || there === undefined || there === "pruned"
          ? null
          : jobDigest({ ...adoptedOf(there), dedupe: sameKey(there.dedupeKey, job) });
      if (other !== null) ofTo = addDigests(ofTo, other);
      if (other !== own && different.length < MOST_NAMED) different.push(job.id);
    }
    onProgress((done += page.length));
  }
  return { checksums: { from: digestText(ofFrom), to: digestText(ofTo) }, different };
}

/** One whose key is another's came without, and that is no difference. */
function sameKey(key: string | null, job: { readonly dedupe: AdoptedDedupe }): AdoptedDedupe {
  if (key === null) return job.dedupe;
  return job.dedupe === null ? { key, hash: "", lifetime: "kept" } : { ...job.dedupe, key };
}

type AdoptedDedupe = Parameters<typeof jobDigest>[0]["dedupe"];
