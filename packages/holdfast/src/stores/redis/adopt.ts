import { HISTORY_LENGTH, LOG_LENGTH, type AdoptedJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { failureText, flag, keyArgs } from "./args.ts";
import { bodyOf } from "./body.ts";
import type { Arg } from "./client-like.ts";
import { categoryNumber, statusNumber, tagText } from "./header.ts";
import { addInTurn, type InsertHow } from "./insert.ts";
import { packAttempt } from "./job-details.ts";

export async function adopt(how: InsertHow, jobs: readonly AdoptedJob[]): Promise<InsertResult[]> {
  return addInTurn(how, jobs, {
    head: [],
    args: (batch, queues) =>
      batch.flatMap((job) => adoptedArgs(job, queues.indexOf(job.queue) + 1)),
    isKnown: true,
    send: async (queues, args) => how.server.onQueues("adopt", queues, args),
  });
}

function adoptedArgs(job: AdoptedJob, queue: number): Arg[] {
  const { payload, meta, trace, error, result, reason, checkpoint, dedupe } = job;
  const details = Object.entries({
    r: result,
    e: error === null ? null : failureText(error),
    w: reason,
    c: checkpoint,
  }).flatMap(([letter, text]) => (text === null ? [] : [letter, text]));
  const logs = job.logs.slice(-LOG_LENGTH);
  const history = job.history.slice(-HISTORY_LENGTH);
  return [
    ...[queue, job.id, job.group, job.type, job.priority, job.maxAttempts, tagText(job.tags)],
    ...[flag(dedupe !== null), ...(dedupe === null ? [] : keyArgs(dedupe))],
    ...[statusNumber(job.status), job.attempts, job.crashes, job.fence],
    categoryNumber(error?.category),
    ...[job.createdAt, job.runAt, job.startedAt ?? -1, job.finishedAt ?? -1],
    bodyOf({ payload, meta, trace }),
    ...[details.length / 2, ...details],
    ...[job.steps.length, ...job.steps.flatMap(({ name, value }) => [name, value])],
    ...[logs.length, ...logs.map(({ at, text }) => `${at} ${text}`)],
    ...[history.length, ...history.map(packAttempt)],
  ];
}
