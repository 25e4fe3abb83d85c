/**
 * Leasing from the memory store what another store has just leased. Which line comes first in fair
 * turns is for each store to choose, so the memory store is led: line by line, with all others held,
 * it hands out as many jobs as the other did. What is not for a store to choose is then compared: the
 * order inside a line, holds, caps, and whether anything was left behind that should have come.
 *
 * A bound in bytes is for a store to measure: in bytes or characters, with or without what it wraps a
 * payload in. So the memory store is led without it, and only what holds in every measure is asked of it.
 */
import type {
  LeasedJob,
  LeaseReply,
  LeaseRequest,
  Store,
} from "../../packages/holdfast/src/core/store.ts";
import { linesOf } from "../../packages/holdfast/src/testing/conformance/looking.ts";
import { Disagreement, mustAgree } from "./disagreement.ts";
import { ROOMY_BYTES, shortId } from "./small-world.ts";

const LEADER = "led";
const UNTIL_RELEASED = { forMs: null, reason: "another line's turn", by: null };

/** What the store under test answered, and whether it was asked by nobody else meanwhile. */
export interface Led {
  readonly reply: LeaseReply;
  readonly alone: boolean;
}

export async function ledLease(
  oracle: Store,
  { maxBytes = Infinity, ...request }: LeaseRequest,
  { reply, alone }: Led,
): Promise<LeaseReply> {
  checkLimits(request, reply);
  checkBytes(maxBytes, reply);
  const jobs = new Map<string, LeasedJob>();
  let cappedLeft = request.cappedLimit ?? request.limit;
  for (const line of linesIn(reply.jobs)) {
    const isCapped = await capConcerns(oracle, line);
    const { queue, ids } = line;
    const taken = await withOthersHeld(oracle, line, () =>
      oracle.lease({
        ...request,
        limit: ids.length,
        cappedLimit: cappedLeft,
        queues: [{ queue, limit: ids.length }],
      }),
    );
    const theirs = ids.map(shortId);
    const ours = taken.jobs.map(({ id }) => shortId(id));
    mustAgree(theirs, ours, `jobs leased from the line "${line.group}" of ${queue}`);
    for (const job of taken.jobs) jobs.set(job.id, job);
    if (isCapped) cappedLeft -= ids.length;
  }
  const inTheirOrder = reply.jobs.flatMap(({ id }) => jobs.get(id) ?? []);
  // Beside other callers a lease may take fewer than it could, and its hint is old when it comes.
  if (!alone) return { jobs: inTheirOrder, nextInMs: reply.nextInMs };
  // The first job comes whatever its size; for the bound, others may be left.
  const isCutShort = maxBytes < ROOMY_BYTES && reply.jobs.length > 0;
  if (!isCutShort) await checkNothingLeft(oracle, request, { reply, cappedLeft });
  const { nextInMs } = await oracle.lease({ ...request, limit: 0 });
  // Who got all that was asked for may be sent back at once without anybody having looked for more.
  const isFilled =
    isCutShort ||
    reply.jobs.length === request.limit ||
    request.queues.some(({ queue, limit }) => limit > 0 && takenOf(reply.jobs, queue) === limit);
  return { jobs: inTheirOrder, nextInMs: isFilled && reply.nextInMs === 0 ? 0 : nextInMs };
}

interface TakenLine {
  readonly queue: string;
  readonly group: string;
  readonly ids: readonly string[];
}

function linesIn(jobs: readonly LeasedJob[]): TakenLine[] {
  const byLine = Map.groupBy(jobs, ({ queue, group }) => JSON.stringify([queue, group]));
  return [...byLine.values()].flatMap((ofLine) => {
    const [first] = ofLine;
    if (first === undefined) return [];
    return [{ queue: first.queue, group: first.group, ids: ofLine.map(({ id }) => id) }];
  });
}

function checkLimits(request: LeaseRequest, { jobs }: LeaseReply): void {
  const isTooMany =
    jobs.length > request.limit ||
    request.queues.some(({ queue, limit }) => takenOf(jobs, queue) > limit);
  if (isTooMany) throw new Disagreement("a lease handed out more than was asked for");
}

/** In characters: no measure of a payload is below that. */
function checkBytes(maxBytes: number, { jobs }: LeaseReply): void {
  const length = jobs.reduce((sum, { payload }) => sum + payload.length, 0);
  if (jobs.length > 1 && length > maxBytes) {
    throw new Disagreement(
      `${jobs.length} jobs of ${length} characters were handed out, ${maxBytes} bytes asked for`,
    );
  }
}

function takenOf(jobs: readonly LeasedJob[], queue: string): number {
  return jobs.filter((job) => job.queue === queue).length;
}

async function capConcerns(oracle: Store, { queue, group }: TakenLine): Promise<boolean> {
  const { queue: state } = await oracle.lines(queue, { limit: 1 });
  const line = (await linesOf(oracle, queue)).find((one) => one.group === group);
  const caps = [state?.maxActive, state?.maxActivePerGroup, line?.maxActive];
  return caps.some((cap) => cap != null);
}

async function withOthersHeld<T>(
  oracle: Store,
  { queue, group }: TakenLine,
  work: () => Promise<T>,
): Promise<T> {
  const others = (await linesOf(oracle, queue)).filter((line) => line.group !== group);
  const changes = others.map((line) => ({ queue, group: line.group, owner: LEADER }));
  await oracle.hold(changes.map((change) => ({ ...change, hold: UNTIL_RELEASED })));
  try {
    return await work();
  } finally {
    await oracle.hold(changes.map((change) => ({ ...change, hold: null })));
  }
}

/** A call with a limit of 0 takes nothing, and says whether there would have been more. */
async function checkNothingLeft(
  oracle: Store,
  request: LeaseRequest,
  { reply, cappedLeft }: { readonly reply: LeaseReply; readonly cappedLeft: number },
): Promise<void> {
  if (reply.jobs.length >= request.limit) return;
  const queues = request.queues.filter(({ queue, limit }) => takenOf(reply.jobs, queue) < limit);
  const { nextInMs } = await oracle.lease({
    ...request,
    limit: 0,
    cappedLimit: cappedLeft,
    queues,
  });
  if (nextInMs === 0) {
    throw new Disagreement(
      `${reply.jobs.length} jobs were handed out, ${request.limit} asked for, and more were ready`,
    );
  }
}
