/** Whole jobs of a store, as another store adopts them. */
import { BATCH_BYTES, type AdoptedJob, type JobStatus, type StoredJob } from "../core/job.ts";
import { checkFlag, checkOptions } from "../core/option-checks.ts";
import type { JobFilter, JobRef, Store } from "../core/store.ts";
import { payloadHash } from "../engine/produce/compose-job.ts";
import { checkQueueNames, checkStoreGiven } from "./check-store-given.ts";

export interface ExportOptions {
  /** Succeeded and cancelled jobs, too. Default: queued and dead ones only. */
  readonly finished?: boolean | undefined;
  /** Only of these queues. Default: all. */
  readonly queues?: readonly string[] | undefined;
}

const PAGE = 200;
/** Whole jobs: two hundred of the largest would be half a gigabyte. */
const READ_AT_ONCE = 20;
const MOVED: readonly Exclude<JobStatus, "processing">[] = ["queued", "dead"];
const FINISHED: readonly Exclude<JobStatus, "processing">[] = ["succeeded", "cancelled"];

/**
 * In pages of at most 200 jobs and some 4 MiB, those of a line in their order. What runs stays behind: its lease is this store's.
 * The store must be open.
 */
export async function* exportJobs(
  store: Store,
  options: ExportOptions = {},
): AsyncGenerator<readonly AdoptedJob[]> {
  checkStoreGiven("exportJobs", store);
  checkOptions("exportJobs", options, ["finished", "queues"]);
  const { finished = false, queues } = options;
  checkFlag("finished", finished);
  checkQueueNames("exportJobs", queues);
  const names = queues ?? (await store.count()).map(({ queue }) => queue);
  for (const queue of names) {
    for (const status of finished ? [...MOVED, ...FINISHED] : MOVED) {
      yield* pagesOf(store, { queue, status: [status] });
    }
  }
}

async function* pagesOf(store: Store, filter: JobFilter): AsyncGenerator<readonly AdoptedJob[]> {
  let cursor: string | null = null;
  do {
    const page = await store.find(filter, {
      ...{ limit: PAGE, cursor, order: "oldest" as const },
      without: "payloads",
    });
    cursor = page.nextCursor;
    const refs = page.jobs.map(({ id, queue }) => ({ id, queue }));
    yield* inBounds(wholeJobs(store, refs));
  } while (cursor !== null);
}

async function* wholeJobs(store: Store, refs: readonly JobRef[]): AsyncGenerator<AdoptedJob> {
  for (let from = 0; from < refs.length; from += READ_AT_ONCE) {
    const some = refs.slice(from, from + READ_AT_ONCE);
    for (const job of await store.get(some)) {
      if (typeof job === "object" && job !== null && job.status !== "processing") {
        yield adoptedOf(job);
      }
    }
  }
}

/** Large ones come in smaller pages. */
async function* inBounds(jobs: AsyncIterable<AdoptedJob>): AsyncGenerator<readonly AdoptedJob[]> {
  let [page, chars]: [AdoptedJob[], number] = [[], 0];
  for await (const job of jobs) {
    page.push(job);
    chars += job.payload.length + (job.result?.length ?? 0);
    if (chars < BATCH_BYTES) continue;
    yield page;
    [page, chars] = [[], 0];
  }
  if (page.length > 0) yield page;
}

export function adoptedOf(job: StoredJob): AdoptedJob {
  const { id, queue, group, type, priority, payload, result, attempts, maxAttempts } = job;
  const { crashes, fence, error, reason, checkpoint, steps, logs, history, tags, meta } = job;
  const { trace, createdAt, runAt, startedAt, finishedAt, dedupeKey, keyLifetime } = job;
  return {
    ...{ id, queue, group, type, status: job.status as AdoptedJob["status"], priority, payload },
    ...{ result, attempts, maxAttempts, crashes, fence, error, reason, checkpoint, steps, logs },
    ...{ history, tags, meta, trace, createdAt, runAt, startedAt, finishedAt },
    dedupe:
      dedupeKey === null || keyLifetime === null
        ? null
        : { key: dedupeKey, hash: payloadHash(type, payload), lifetime: keyLifetime },
  };
}
