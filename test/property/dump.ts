/** Everything that can be seen of a store. */
import type { JobSummary, StoredJob } from "../../packages/holdfast/src/core/job.ts";
import type { QueueState } from "../../packages/holdfast/src/core/line.ts";
import type { QueueCounts, Store } from "../../packages/holdfast/src/core/store.ts";
import {
  entriesOf,
  findAll,
  linesOf,
  scanAll,
} from "../../packages/holdfast/src/testing/conformance/looking.ts";
import { mustAgree } from "./disagreement.ts";
import { JOB_IDS, QUEUES } from "./small-world.ts";

export interface Dump {
  readonly jobs: readonly (StoredJob | "pruned" | null)[];
  readonly places: readonly (number | null)[];
  readonly found: readonly JobSummary[];
  readonly counts: readonly QueueCounts[];
  readonly queues: readonly unknown[];
  readonly lines: readonly unknown[];
  readonly entries: readonly unknown[];
  readonly records: readonly unknown[];
  readonly outbox: readonly unknown[];
}

/** Each place is a call. */
const SOME = 10;

export async function dumpOf(store: Store, look: Look): Promise<Dump> {
  const found = await findAll(store, {});
  const ids = new Set([...JOB_IDS, ...found.map(({ id }) => id)]);
  const waiting = found.filter(({ status }) => status === "queued").slice(0, SOME);
  return {
    jobs: await store.get([...ids].map((id) => ({ id }))),
    places: await eachOf(waiting, (job) => store.place(job)),
    found,
    counts: await countsOf(store, look),
    queues: await eachOf(QUEUES, async (name) => {
      const { queue } = await store.lines(name, { limit: 1 });
      return queue === null || isBare(queue) ? null : queue;
    }),
    lines: await eachOf(QUEUES, (name) => linesOf(store, name)),
    entries: await entriesOf(store),
    records: await scanAll(store, ""),
    outbox: (await store.outbox.read(100)).map(({ id: _, ...item }) => item),
  };
}

export interface Look {
  /** Does the store under test count finished jobs exactly? Else nobody's are compared. */
  readonly exactCounts: boolean;
}

export async function countsOf(store: Store, { exactCounts }: Look): Promise<QueueCounts[]> {
  const counts = (await store.count()).filter(({ queue: _, ...counted }) =>
    Object.values(counted).some((jobs) => jobs !== 0 && jobs !== null),
  );
  if (exactCounts) return counts;
  return counts.map((one) => ({ ...one, succeeded: 0, dead: 0, cancelled: 0 }));
}

/** A queue without jobs or settings may be known or not: some stores name it before they are sure. */
export function isBare({ queue: _, active, holds, ...settings }: QueueState): boolean {
  return active === 0 && holds.length === 0 && Object.values(settings).every((one) => one === null);
}

async function eachOf<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}

/** What is counted by the way is what a walk over all jobs counts. */
export function checkRecount({ counts, found }: Dump, now: number): void {
  for (const { queue, ready, delayed, processing, retrying } of counts) {
    const jobs = found.filter((job) => job.queue === queue);
    const queued = jobs.filter(({ status }) => status === "queued");
    const later = queued.filter(({ runAt }) => runAt > now).length;
    const running = jobs.filter(({ status }) => status === "processing").length;
    const tried = queued.filter(({ attempts }) => attempts > 0).length;
    const waiting = { ready: queued.length - later, delayed: later };
    const recount = { ...waiting, processing: running, retrying: tried };
    mustAgree(
      { ready, delayed, processing, retrying },
      recount,
      `${queue} is counted as it is found`,
    );
  }
}
