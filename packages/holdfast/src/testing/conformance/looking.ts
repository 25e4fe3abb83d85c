/** Looking into a store: every page is followed to its end, because pages may be short. */
import assert from "node:assert/strict";
import type { FinishedStatus, JobSummary, StoredJob } from "../../core/job.ts";
import type { LedgerFilter, StoredEntry } from "../../core/ledger.ts";
import type { LineState, QueueState } from "../../core/line.ts";
import type { StoredRecord } from "../../core/records.ts";
import type { JobFilter, PageRequest, QueueCounts, Store } from "../../core/store.ts";
import { QUEUE } from "./new-job.ts";

/** More pages than this are a cursor that never ends. */
const MOST_PAGES = 1_000;

export async function jobOf(store: Store, job: { readonly id: string }): Promise<StoredJob> {
  const [found] = await store.get([{ id: job.id }]);
  assert.ok(found && found !== "pruned", "the job is kept");
  return found;
}

export async function assertPruned(store: Store, job: { readonly id: string }): Promise<void> {
  assert.deepEqual(await store.get([{ id: job.id }]), ["pruned"]);
}

async function follow<Item>(
  page: (
    cursor: string | null,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const { items: more, nextCursor } = await page(cursor);
    items.push(...more);
    if (nextCursor === null) return items;
    cursor = nextCursor;
  }
  return assert.fail(`a cursor ends before ${MOST_PAGES} pages`);
}

export async function findAll(
  store: Store,
  filter: JobFilter,
  { limit = 50, ...page }: Partial<PageRequest> = {},
): Promise<JobSummary[]> {
  return follow(async (cursor) => {
    const { jobs, nextCursor } = await store.find(filter, { limit, ...page, cursor });
    assert.ok(jobs.length <= limit, "a page is never longer than asked");
    return { items: jobs, nextCursor };
  });
}

export async function linesOf(store: Store, queue = QUEUE, limit = 50): Promise<LineState[]> {
  return follow(async (cursor) => {
    const { lines, nextCursor } = await store.lines(queue, { limit, cursor });
    assert.ok(lines.length <= limit, "a page is never longer than asked");
    return { items: lines, nextCursor };
  });
}

export async function lineOf(store: Store, group: string, queue = QUEUE): Promise<LineState> {
  const line = (await linesOf(store, queue)).find((one) => one.group === group);
  assert.ok(line, `the line "${group}" is listed`);
  return line;
}

export async function queueOf(store: Store, queue = QUEUE): Promise<QueueState> {
  const { queue: state } = await store.lines(queue, { limit: 1 });
  assert.ok(state, `the queue "${queue}" is known`);
  return state;
}

export async function entriesOf(
  store: Store,
  filter: LedgerFilter = {},
  limit = 50,
): Promise<StoredEntry[]> {
  return follow(async (cursor) => {
    const { entries, nextCursor } = await store.ledger.read(filter, { limit, cursor });
    assert.ok(entries.length <= limit, "a page is never longer than asked");
    return { items: entries, nextCursor };
  });
}

export async function scanAll(store: Store, prefix: string, limit = 50): Promise<StoredRecord[]> {
  return follow(async (cursor) => {
    const { records, nextCursor } = await store.records.scan({ prefix, limit, cursor });
    assert.ok(records.length <= limit, "a page is never longer than asked");
    return { items: records, nextCursor };
  });
}

export async function countsOf(store: Store, queue = QUEUE): Promise<QueueCounts> {
  const counts = (await store.count()).find((one) => one.queue === queue);
  assert.ok(counts, `the queue "${queue}" is counted`);
  return counts;
}

const NONE = { ready: 0, delayed: 0, processing: 0, succeeded: 0, dead: 0, cancelled: 0 };

type Numbers = typeof NONE;

/** The numbers of a queue; those of finished jobs only where the store says that it counts exactly. */
export async function assertCounts(
  store: Store,
  expected: Partial<Numbers>,
  queue = QUEUE,
): Promise<void> {
  const { queue: _, retrying: __, oldestReadyAt: ___, ...actual } = await countsOf(store, queue);
  const { ready, delayed, processing } = actual;
  const wanted = { ...NONE, ...expected };
  if (store.info().counts === "exact") assert.deepEqual(actual, wanted);
  else assert.deepEqual({ ...wanted, ready, delayed, processing }, wanted);
}

/** For claims about any finished status. */
export const FINISHED: readonly FinishedStatus[] = ["succeeded", "dead", "cancelled"];
