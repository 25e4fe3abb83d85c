import type { JobStatus, NewJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { flag } from "./args.ts";
import { BATCH_ITEMS } from "./batch-items.ts";
import type { Arg, Reply } from "./client-like.ts";
import type { Handovers } from "./handovers.ts";
import { eachAtOnce } from "./each-at-once.ts";
import { elsewhere } from "./elsewhere.ts";
import { STATUSES } from "./header.ts";
import { newJobArgs } from "./new-job-args.ts";
import type { QueueBook } from "./queue-book.ts";
import { list, number, rows, text } from "./reply.ts";
import type { Server } from "./server.ts";
import { named, type Touched } from "./touched.ts";

/** The scripts wake others for what is due by then (lua/queue.lua). */
const SOON_MS = 1_000;

export interface InsertHow {
  readonly server: Server;
  readonly queues: QueueBook;
  readonly touched: Touched;
}

export interface AddHow extends InsertHow {
  readonly handovers: Handovers;
  /** Tells those who listen in this process that new jobs are on their way. */
  readonly announce: () => void;
}

export async function insert(
  how: AddHow,
  jobs: readonly NewJob[],
  evenIfFull: boolean,
): Promise<InsertResult[]> {
  const { server, handovers, announce } = how;
  const [first] = jobs;
  const isPlain = jobs.length === 1 && first?.dedupe === null && first.delayMs <= 0;
  const results = await addInTurn(how, jobs, {
    head: [flag(evenIfFull)],
    args: newJobArgs,
    isKnown: false,
    send: async (queues, args) =>
      isPlain && first.runAt === null
        ? handovers.insert(first.queue, args, announce)
        : server.onQueues("insert", queues, args, announce),
  });
  how.touched.added = readyCount(jobs, results);
  return results;
}

/** How many of these others are woken for; undefined if only the store's clock can tell. */
function readyCount(jobs: readonly NewJob[], results: readonly InsertResult[]): number | undefined {
  const added = jobs.filter((_, index) => results[index]?.outcome === "added");
  if (added.some(({ runAt }) => runAt !== null)) return undefined;
  return added.filter(({ delayMs }) => delayMs <= SOON_MS).length;
}

interface Adding<Job> {
  readonly head: readonly Arg[];
  /** Of jobs for these queues, which are the keys of the script. */
  args(jobs: readonly Job[], queues: readonly string[]): Arg[];
  /** These jobs have been somewhere before, so it may have been here. */
  readonly isKnown: boolean;
  /** Runs the script that adds jobs of these queues. */
  send(queues: readonly string[], args: readonly Arg[]): Promise<Reply>;
}

/**
 * An earlier item of a call wins. The scripts see to that; but in a cluster an id that comes again for
 * another queue is another script's: it and all behind it wait until what is before is there.
 */
export async function addInTurn<Job extends { readonly id: string; readonly queue: string }>(
  how: InsertHow,
  jobs: readonly Job[],
  adding: Adding<Job>,
): Promise<InsertResult[]> {
  if (!how.server.isCluster) return addJobs(how, jobs, adding);
  const [first = [], ...later] = stretchesOf(jobs);
  const results = await addJobs(how, first, adding);
  for (const stretch of later) {
    results.push(...(await addJobs(how, stretch, { ...adding, isKnown: true })));
  }
  return results;
}

/** In none of them is an id for two queues. */
function stretchesOf<Job extends { readonly id: string; readonly queue: string }>(
  jobs: readonly Job[],
): Job[][] {
  let stretch: Job[] = [];
  let queueOf = new Map<string, string>();
  const stretches = [stretch];
  for (const job of jobs) {
    if ((queueOf.get(job.id) ?? job.queue) !== job.queue) {
      stretch = [];
      queueOf = new Map();
      stretches.push(stretch);
    }
    stretch.push(job);
    queueOf.set(job.id, job.queue);
  }
  return stretches;
}

/** Adds jobs, slot by slot, and answers in their order. */
async function addJobs<Job extends { readonly id: string; readonly queue: string }>(
  how: InsertHow,
  jobs: readonly Job[],
  adding: Adding<Job>,
): Promise<InsertResult[]> {
  const { server, queues } = how;
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  await queues.list(names);
  const asks = await elsewhere(how, jobs, { isKnown: adding.isKnown });
  // What nobody refuses is added.
  const results = jobs.map(({ id }): InsertResult => ({ outcome: "added", id }));
  for (const [index, refusal] of asks.refusals) results[index] = refusal;
  await eachAtOnce(server.slots(names), async (slot) => {
    const own = jobs.flatMap(({ queue }, index) =>
      !asks.refusals.has(index) && slot.includes(queue) ? [index] : [],
    );
    for (let from = 0; from < own.length; from += BATCH_ITEMS) {
      const batch = own.slice(from, from + BATCH_ITEMS);
      await addBatch(batch, slot);
    }
  });
  return results;

  async function addBatch(batch: readonly number[], slot: readonly string[]): Promise<void> {
    const own = batch.flatMap((index) => jobs[index] ?? []);
    const args = [...adding.head, flag(asks.inScript), ...adding.args(own, slot)];
    const reply = await adding.send(slot, args);
    const [made, woken, refused] = list(reply);
    how.touched.wake(woken, slot);
    await queues.made(named(made, slot));
    for (const [place, ...refusal] of rows(list(refused), 4)) {
      results[batch[number(place) - 1] ?? -1] = refusalOf(refusal);
    }
  }
}

function refusalOf([outcome, id, rest]: readonly Reply[]): InsertResult {
  switch (number(outcome)) {
    case 1:
      return { outcome: "duplicate", id: text(id), status: statusOf(number(rest)) };
    case 2:
      return { outcome: "conflict", id: text(id), status: statusOf(number(rest)) };
    default:
      return { outcome: "full", maxWaiting: number(rest) };
  }
}

export function statusOf(status: number): JobStatus | "pruned" {
  return STATUSES[status - 1] ?? "pruned";
}
