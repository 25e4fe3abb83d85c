/**
 * Leasing: the shares of the asked queues are planned here (`core/shares.ts`), turns and gates are in the
 * script (lua/lease.lua). Scripts of several queues go out together, unless the caller bounds what may
 * come from capped lines: then each must know what the one before has taken.
 */
import { Shares, type Demand } from "../../core/shares.ts";
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { flag } from "./args.ts";
import { BATCH_ITEMS } from "./batch-items.ts";
import type { Reply } from "./client-like.ts";
import { LeaseFailures } from "./lease-failures.ts";
import { type More, readLeasedJobs } from "./leased-jobs.ts";
import { bytes, list, number, numberOrNull, rows, text, textOrNull } from "./reply.ts";
import type { Server } from "./server.ts";
import { readSteps } from "./job-details.ts";

interface QueueDemand extends Demand {
  readonly jobs: LeasedJob[];
  nextInMs: number | null;
}

/** One call of `lease`, and what is left of it. */
interface Call {
  readonly server: Server;
  readonly request: LeaseRequest;
  readonly failures: LeaseFailures;
  left: number;
  cappedLeft: number;
}

/** What a process remembers between its leases. */
export class Leases {
  readonly #shares = new Shares();

  async lease(server: Server, request: LeaseRequest): Promise<LeaseReply> {
    const limit = Math.min(BATCH_ITEMS, Math.max(0, request.limit));
    const cappedLeft = Math.max(0, request.cappedLimit ?? limit);
    const failures = new LeaseFailures();
    const call: Call = { server, request, failures, left: limit, cappedLeft };
    const demands = demandsOf(request);
    if (demands.length === 0) return { jobs: [], nextInMs: null };
    let hungry = demands;
    do hungry = await this.#round(call, hungry);
    while (call.left > 0 && hungry.length > 0);
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
    const isBounded = call.cappedLeft < call.left;
    const hungry: QueueDemand[] = [];
    const take = async (demand: QueueDemand, index: number): Promise<void> => {
      const share = shares[index] ?? 0;
      const atMost = Math.min(share, demand.limit - demand.jobs.length);
      const taken = await takeFrom(demand, atMost, call);
      if (taken < share) this.#shares.unfilled(demand);
      if (taken >= atMost && demand.jobs.length < demand.limit) hungry.push(demand);
    };
    // What one queue has given is not lost because another one failed: it is leased already.
    const takeOrNote = (demand: QueueDemand, index: number) =>
      take(demand, index).catch((error: unknown) => call.failures.note(demand.name, error));
    if (isBounded) for (const [index, demand] of demands.entries()) await takeOrNote(demand, index);
    else await Promise.all(demands.map(takeOrNote));
    return hungry;
  }
}

async function takeFrom(demand: QueueDemand, atMost: number, call: Call): Promise<number> {
  const { server, request } = call;
  const wantsCapped = (request.cappedLimit ?? request.limit) > 0;
  const reply = list(
    await server.onQueues(
      "lease",
      [demand.name],
      [...[request.worker, request.leaseMs, atMost, call.cappedLeft, flag(wantsCapped)]],
    ),
  );
  const jobs = readLeasedJobs({
    queue: demand.name,
    more: moreOf(list(reply[2])),
    moving: list(reply[3]).map(bytes),
    longBodies: list(reply[4]).map(text),
    texts: reply.slice(5).map(bytes),
  });
  call.failures.answered();
  demand.nextInMs = numberOrNull(reply[0]);
  call.cappedLeft -= number(reply[1]);
  demand.jobs.push(...jobs);
  call.left -= jobs.length;
  return jobs.length;
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
