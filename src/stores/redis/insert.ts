import { BATCH_ITEMS, type JobStatus, type NewJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { flag, newJobArgs } from "./args.ts";
import type { Arg, Reply } from "./client-like.ts";
import { eachAtOnce } from "./each-at-once.ts";
import { elsewhere } from "./elsewhere.ts";
import { STATUSES } from "./header.ts";
import type { QueueBook } from "./queue-book.ts";
import { list, number, rows, text } from "./reply.ts";
import type { ScriptName } from "./script.ts";
import type { Server } from "./server.ts";
import { named, type Touched } from "./touched.ts";

export interface InsertHow {
  readonly server: Server;
  readonly queues: QueueBook;
  readonly touched: Touched;
}

export async function insert(
  how: InsertHow,
  jobs: readonly NewJob[],
  evenIfFull: boolean,
): Promise<InsertResult[]> {
  return addInTurn(how, jobs, {
    script: "insert",
    head: [flag(evenIfFull)],
    args: newJobArgs,
    isKnown: false,
  });
}

interface Adding<Job> {
  readonly script: ScriptName;
  readonly head: readonly Arg[];
  args(job: Job, queue: number): Arg[];
  /** These jobs have been somewhere before, so it may have been here. */
  readonly isKnown: boolean;
}

/**
 * An earlier item of a call wins. The scripts see to that; but in a cluster an id that comes again for
 * another queue is another script's, so those wait until the first are there.
 */
export async function addInTurn<Job extends { readonly id: string; readonly queue: string }>(
  how: InsertHow,
  jobs: readonly Job[],
  adding: Adding<Job>,
): Promise<InsertResult[]> {
  const seen = new Set<string>();
  const isFirst = jobs.map(({ id }) => !seen.has(id) && seen.add(id) === seen);
  if (!how.server.isCluster || seen.size === jobs.length) return addJobs(how, jobs, adding);
  const first = jobs.filter((_, index) => isFirst[index]);
  const again = jobs.filter((_, index) => !isFirst[index]);
  const [answers, later] = [
    await addJobs(how, first, adding),
    await addJobs(how, again, { ...adding, isKnown: true }),
  ].map((results) => results.values());
  return isFirst.flatMap((comesFirst) => (comesFirst ? answers : later)?.next().value ?? []);
}

/** Adds jobs, slot by slot, and answers in their order. */
async function addJobs<Job extends { readonly id: string; readonly queue: string }>(
  how: InsertHow,
  jobs: readonly Job[],
  adding: Adding<Job>,
): Promise<InsertResult[]> {
  const { server, queues, touched } = how;
  const results = new Map<number, InsertResult>();
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  await queues.list(names);
  const items = jobs.map((job, index) => ({ job, index }));
  const asks = await elsewhere(how, jobs, { isKnown: adding.isKnown });
  await eachAtOnce(server.slots(names), async (slot) => {
    const own = items.filter(({ job, index }) => {
      const refusal = asks.refusals.get(index);
      if (refusal !== undefined) results.set(index, refusal);
      return refusal === undefined && slot.includes(job.queue);
    });
    for (let from = 0; from < own.length; from += BATCH_ITEMS) {
      const batch = own.slice(from, from + BATCH_ITEMS);
      const reply = await server.onQueues(adding.script, slot, [
        ...adding.head,
        flag(asks.inScript),
        ...batch.flatMap(({ job }) => adding.args(job, slot.indexOf(job.queue) + 1)),
      ]);
      const [made, woken, outcomes] = list(reply);
      touched.wake(woken, slot);
      await queues.made(named(made, slot));
      for (const [place, outcome] of rows(list(outcomes), 3).entries()) {
        const item = batch[place];
        if (item !== undefined) results.set(item.index, insertResult(outcome));
      }
    }
  });
  return jobs.map((_, index) => {
    const result = results.get(index);
    if (result === undefined) throw new Error("a script left out a job");
    return result;
  });
}

function insertResult([outcome, id, rest]: readonly Reply[]): InsertResult {
  switch (number(outcome)) {
    case 0:
      return { outcome: "added", id: text(id) };
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
