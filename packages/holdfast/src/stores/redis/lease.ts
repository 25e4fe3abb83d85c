/**
 * Leasing: the shares of the asked queues are planned here (`core/shares.ts`), turns and gates are in the
 * script (lua/lease.lua). Scripts of several queues go out together, unless the caller bounds what may
 * come from capped lines: then each must know what the one before has taken.
 *
 * A bound in bytes is split as the jobs are. Where jobs are large, what some queues have left over goes to
 * those that were stopped, one after another.
 */
import { Shares, type Demand } from "../../core/shares.ts";
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { flag } from "./args.ts";
import { BATCH_ITEMS } from "./batch-items.ts";
import type { Reply } from "./client-like.ts";
import type { Handovers } from "./handovers.ts";
import { readSteps } from "./job-details.ts";
import { LeaseFailures } from "./lease-failures.ts";
import { type More, readLeasedJobs } from "./leased-jobs.ts";
import { bytes, list, number, numberOrNull, rows, text, textOrNull } from "./reply.ts";

interface QueueDemand extends Demand {
  readonly jobs: LeasedJob[];
  nextInMs: number | null;
}

/** One call of `lease`, and what is left of it. */
interface Call {
  readonly handovers: Handovers;
  readonly request: LeaseRequest;
  readonly failures: LeaseFailures;
  left: number;
  cappedLeft: number;
  bytesLeft: number;
  hasAny: boolean;
  /** A job was too large for its queue's part of the bytes. */
  isTight: boolean;
}

/** What one queue is asked for in one round. */
interface Ask {
  readonly demand: QueueDemand;
  readonly atMost: number;
  readonly maxBytes: number;
  /** Its first job comes whatever its size. */
  readonly isFirstFree: boolean;
}

interface Taken {
  readonly count: number;
  /** A job was left because of its size, when so many bytes were left. */
  readonly stoppedAt: number | null;
}

/** What a process remembers between its leases. */
export class Leases {
  readonly #shares = new Shares();
  /** Queues whose next job was too large for their part, the longest waiting first. */
  readonly #leftBehind = new Set<string>();

  async lease(handovers: Handovers, request: LeaseRequest): Promise<LeaseReply> {
    const limit = Math.min(BATCH_ITEMS, Math.max(0, request.limit));
    const cappedLeft = Math.max(0, request.cappedLimit ?? limit);
    const bytesLeft = request.maxBytes ?? Infinity;
    const failures = new LeaseFailures();
    const call: Call = {
      ...{ handovers, request, failures, left: limit, cappedLeft, bytesLeft },
      ...{ hasAny: false, isTight: false },
    };
    const demands = demandsOf(request);
    if (demands.length === 0) return { jobs: [], nextInMs: null };
    let hungry = demands;
    do hungry = await this.#round(call, hungry);
    while (call.left > 0 && hungry.length > 0 && (call.bytesLeft > 0 || !call.hasAny));
    const jobs = demands.flatMap((demand) => demand.jobs);
    const unsure = failures.unsure(jobs.length);
    const nextInMs = demands.flatMap((demand) => demand.nextInMs ?? []);
    return {
      jobs,
      nextInMs: nextInMs.length === 0 ? null : Math.min(...nextInMs),
      ...(unsure.length > 0 && { unsure }),
    };
  }

  /** Answers who may have more to give. */
  async #round(call: Call, demands: readonly QueueDemand[]): Promise<QueueDemand[]> {
    const shares = this.#shares.split(demands, call.left);
    const { left, bytesLeft } = call;
    const oneByOne = call.isTight || demands.length === 1;
    const owed = this.#owed(demands);
    const hungry: QueueDemand[] = [];
    const stopped: { readonly demand: QueueDemand; readonly at: number }[] = [];
    const take = async (demand: QueueDemand, index: number): Promise<void> => {
      const share = shares[index] ?? 0;
      const atMost = Math.min(share, demand.limit - demand.jobs.length);
      const maxBytes = oneByOne ? call.bytesLeft : partOf(bytesLeft, share / left);
      const isFirstFree = oneByOne ? !call.hasAny : demand.name === owed;
      const { count, stoppedAt } = await takeFrom({ demand, atMost, maxBytes, isFirstFree }, call);
      if (stoppedAt !== null) stopped.push({ demand, at: stoppedAt });
      else if (count < share) this.#shares.unfilled(demand);
      if (count >= atMost && demand.jobs.length < demand.limit) hungry.push(demand);
      if (stoppedAt !== null && count === 0) this.#leftBehind.add(demand.name);
      else if (atMost > 0) this.#leftBehind.delete(demand.name);
    };
    // What one queue has given is not lost because another one failed: it is leased already.
    const takeOrNote = (demand: QueueDemand, index: number) =>
      take(demand, index).catch((error: unknown) => call.failures.note(demand.name, error));
    const isBounded = call.isTight || call.cappedLeft < call.left;
    if (isBounded) for (const [index, demand] of demands.entries()) await takeOrNote(demand, index);
    else await Promise.all(demands.map(takeOrNote));
    call.isTight ||= stopped.length > 0;
    // Others have left something over, or nothing has come at all.
    const again = stopped.filter(({ at }) => call.bytesLeft > at || !call.hasAny);
    return [...hungry, ...again.map(({ demand }) => demand)];
  }

  /**
   * When queues are asked side by side, one of those that were left behind may give its first job whatever
   * its size: else a large job would wait for as long as the other queues have small ones. So a call gives
   * one large job more than its bound at most.
   */
  #owed(demands: readonly QueueDemand[]): string | null {
    if (this.#leftBehind.size === 0) return null;
    const names = new Set(demands.map(({ name }) => name));
    return [...this.#leftBehind].find((name) => names.has(name)) ?? null;
  }
}

async function takeFrom(ask: Ask, call: Call): Promise<Taken> {
  const { demand, atMost, maxBytes, isFirstFree } = ask;
  const { handovers, request } = call;
  const wantsCapped = (request.cappedLimit ?? request.limit) > 0;
  const isBoundless = maxBytes === Infinity;
  const reply = list(
    await handovers.lease(demand.name, [
      ...[request.worker, request.leaseMs, atMost, call.cappedLeft, flag(wantsCapped)],
      ...[isBoundless ? "" : Math.max(0, maxBytes), flag(isFirstFree)],
    ]),
  );
  const isStopped = number(reply[2]) === 1;
  const jobs = readLeasedJobs({
    queue: demand.name,
    more: moreOf(list(reply[3])),
    moving: list(reply[4]).map(bytes),
    longBodies: list(reply[5]).map(text),
    texts: reply.slice(6).map(bytes),
  });
  call.failures.answered();
  demand.nextInMs = numberOrNull(reply[0]);
  call.cappedLeft -= number(reply[1]);
  demand.jobs.push(...jobs);
  call.left -= jobs.length;
  call.hasAny ||= jobs.length > 0;
  if (isBoundless) return { count: jobs.length, stoppedAt: null };
  const taken = jobs.reduce((sum, { payload }) => sum + payload.length, 0);
  call.bytesLeft -= taken;
  return { count: jobs.length, stoppedAt: isStopped ? maxBytes - taken : null };
}

/** No part of a bound that is not there is a bound. */
function partOf(bytesLeft: number, part: number): number {
  return bytesLeft === Infinity ? Infinity : Math.floor(bytesLeft * part);
}

/** By the number of the job. */
function moreOf(replies: readonly Reply[]): ReadonlyMap<number, More> {
  return new Map(
    rows(replies, 3).map(([index, checkpoint, steps]) => [
      number(index),
      { checkpoint: textOrNull(checkpoint), steps: readSteps(list(steps)) },
    ]),
  );
}

function demandsOf({ queues }: LeaseRequest): QueueDemand[] {
  const demands = new Map<string, QueueDemand>();
  for (const { queue, limit, weight = 1 } of queues) {
    if (limit > 0) demands.set(queue, { name: queue, limit, weight, jobs: [], nextInMs: null });
  }
  return [...demands.values()];
}
