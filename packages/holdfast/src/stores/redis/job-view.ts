/** What can be seen of a job. */
import type { Failure, JobSummary, Progress, StoredJob } from "../../core/job.ts";
import type { JobRef } from "../../core/store.ts";
import { readBody } from "./body.ts";
import type { Reply } from "./client-like.ts";
import { readHeader } from "./header.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { QueueBook } from "./queue-book.ts";
import { bytes, list, number, text, textOrNull } from "./reply.ts";
import type { Server } from "./server.ts";
import { readAttempt, readLogs, readSteps } from "./job-details.ts";

export interface Looking {
  readonly server: Server;
  readonly queues: QueueBook;
}

export async function get(
  looking: Looking,
  refs: readonly JobRef[],
): Promise<(StoredJob | "pruned" | null)[]> {
  const found = await look(looking, refs, WHAT.whole);
  return found.map((job) => (job === "pruned" || job === null ? job : storedJob(job)));
}

export async function getSummaries(
  looking: Looking,
  refs: readonly JobRef[],
  without?: "payloads",
): Promise<(JobSummary | null)[]> {
  const found = await look(looking, refs, without === undefined ? WHAT.summary : WHAT.noPayload);
  return found.map((job) => (job === "pruned" || job === null ? null : summary(job)));
}

/** How much of a job is read (lua/get.lua). */
const WHAT = { whole: "w", summary: "s", noPayload: "n" } as const;
type What = (typeof WHAT)[keyof typeof WHAT];

interface Seen {
  readonly id: string;
  readonly queue: string;
  readonly parts: readonly Reply[];
}

/** In the queues that are named; those that are not found there, everywhere. */
async function look(
  looking: Looking,
  refs: readonly JobRef[],
  what: What,
): Promise<(Seen | "pruned" | null)[]> {
  const answers: (Seen | "pruned" | null)[] = refs.map(() => null);
  const hinted = [...new Set(refs.flatMap(({ queue }) => queue ?? []))];
  if (hinted.length > 0) await lookIn(looking, hinted, { refs, what, answers, hints: true });
  if (answers.every((answer) => answer !== null && answer !== "pruned")) return answers;
  await lookIn(looking, await looking.queues.all(), { refs, what, answers, hints: false });
  return answers;
}

async function lookIn(
  { server }: Looking,
  queues: readonly string[],
  how: {
    readonly refs: readonly JobRef[];
    readonly what: What;
    readonly answers: (Seen | "pruned" | null)[];
    readonly hints: boolean;
  },
): Promise<void> {
  const { refs, what, answers, hints } = how;
  const slots = hints ? [server.slots(queues)] : server.inTurns(queues);
  for (const some of slots) await eachAtOnce(some, lookInSlot);

  async function lookInSlot(slot: readonly string[]): Promise<void> {
    const open = refs.flatMap(({ id, queue }, index) => {
      const isOpen = answers[index] === null || answers[index] === "pruned";
      const isHere = !hints || (queue !== undefined && slot.includes(queue));
      return isOpen && isHere ? [{ id, index }] : [];
    });
    if (open.length === 0) return;
    const args = [what, ...open.map(({ id }) => id)];
    const replies = list(await server.onQueues("get", slot, args));
    for (const [place, reply] of replies.entries()) {
      const item = open[place];
      const parts = list(reply);
      if (item === undefined || parts.length === 0) continue;
      const queue = slot[number(parts[0]) - 1];
      answers[item.index] = queue === undefined ? "pruned" : { id: item.id, queue, parts };
    }
  }
}

function summary({ id, queue, parts }: Seen): JobSummary {
  const header = readHeader(bytes(parts[1]));
  const { payload, meta, trace } = readBody(text(parts[2]));
  const [result, error, reason, by, progress] = list(parts[3]);
  return {
    id,
    queue,
    group: header.group,
    type: header.type,
    status: header.status,
    priority: header.priority,
    payload,
    result: textOrNull(result),
    resultDropped: header.resultDropped,
    attempts: header.attempts,
    maxAttempts: header.maxAttempts,
    crashes: header.crashes,
    deferrals: header.deferrals,
    fence: header.fence,
    error: parsed<Failure>(error),
    reason: textOrNull(reason),
    by: textOrNull(by),
    progress: parsed<Progress>(progress),
    tags: header.tags,
    meta,
    trace,
    dedupeKey: header.key,
    cancelAsked: header.cancelAsked,
    createdAt: header.createdAt,
    updatedAt: header.updatedAt,
    runAt: header.runAt,
    startedAt: header.startedAt,
    finishedAt: header.finishedAt,
    worker: header.worker,
    leasedAt: header.status === "processing" ? header.startedAt : null,
    leaseUntil: header.leaseUntil,
  };
}

function storedJob(seen: Seen): StoredJob {
  const { parts } = seen;
  return {
    ...summary(seen),
    keyLifetime: readHeader(bytes(parts[1])).keyLifetime,
    checkpoint: textOrNull(list(parts[3])[5]),
    steps: readSteps(list(parts[4])),
    logs: readLogs(list(parts[5])),
    history: list(parts[6]).map(readAttempt),
  };
}

function parsed<T>(reply: Reply | undefined): T | null {
  const json = textOrNull(reply);
  return json === null ? null : (JSON.parse(json) as T);
}
