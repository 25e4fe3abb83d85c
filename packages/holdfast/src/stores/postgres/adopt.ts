/**
 * Adopting keeps a job's past as it was elsewhere: attempts, fence, times, history. What stays behind
 * is its lease and with it the memory of its last settle; the fence still only grows from here.
 */
import { type AdoptedJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { sizeFlags } from "./byte-bound.ts";
import type { Clock } from "./clock.ts";
import { insertAdopted } from "./insert.ts";
import { runsOf } from "./runs-of.ts";
import { HAS_KEY, HAS_PAST, placeFinished } from "./placement.ts";
import { addAttempts, addLogs, errorColumns, noteDetails, takeAlong } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

interface Adopted {
  readonly job: AdoptedJob;
  readonly seq: number;
}

interface AdoptHow {
  readonly clock: Clock;
  readonly queues: ReadonlyMap<string, number>;
}

export async function adopt(
  tx: Transaction,
  jobs: readonly AdoptedJob[],
  how: AdoptHow,
): Promise<InsertResult[]> {
  const results: InsertResult[] = [];
  for (const run of runsOf(jobs, ({ id }) => id)) results.push(...(await adoptRun(tx, run, how)));
  return results;
}

async function adoptRun(
  tx: Transaction,
  jobs: readonly AdoptedJob[],
  { clock, queues }: AdoptHow,
): Promise<InsertResult[]> {
  const how = { clock, queues, evenIfFull: true, isLate: tx.isLate };
  const { results, seqs, woken } = await insertAdopted(tx, jobs, how);
  for (const q of woken) tx.woken.add(q);
  const added = jobs.flatMap((job, index): Adopted[] => {
    const seq = seqs[index] ?? null;
    return seq === null ? [] : [{ job, seq }];
  });
  await writePast(tx, added);
  await finish(tx, added, queues);
  return results;
}

/** Always a row of its own: when it was adopted is its last change. */
async function writePast(tx: Transaction, added: readonly Adopted[]): Promise<void> {
  await noteDetails(
    tx,
    added.map(({ seq, job: { error, startedAt, checkpoint, reason, result } }) => ({
      seq,
      change: {
        ...errorColumns(error),
        started_at: startedAt === null ? null : Math.floor(startedAt),
        ...{ checkpoint, reason, result },
      },
    })),
  );
  await takeAlong(
    tx,
    added.map(({ seq, job: { steps } }) => ({ seq, updates: { steps } })),
  );
  await addLogs(
    tx,
    added.map(({ seq, job }) => ({ seq, lines: job.logs })),
  );
  await addAttempts(
    tx,
    added.map(({ seq, job }) => ({ seq, records: job.history })),
  );
}

async function finish(
  tx: Transaction,
  added: readonly Adopted[],
  queues: ReadonlyMap<string, number>,
): Promise<void> {
  await placeFinished(
    tx,
    added.flatMap(({ seq, job }) => {
      if (job.status === "queued") return [];
      return [
        {
          seq,
          q: queues.get(job.queue) ?? 0,
          group: job.group,
          prio: job.priority,
          attempts: job.attempts,
          maxAttempts: job.maxAttempts,
          crashes: job.crashes,
          fence: job.fence,
          settledFence: 0,
          runAt: Math.ceil(job.runAt),
          flags: HAS_PAST | (job.dedupe === null ? 0 : HAS_KEY) | sizeFlags(job.payload),
          as: job.status,
          finishedAt: job.finishedAt === null ? tx.now : Math.floor(job.finishedAt),
          startedAt: job.startedAt === null ? null : Math.floor(job.startedAt),
          worker: null,
          result: null,
          resultDropped: false,
        },
      ];
    }),
  );
}
