/**
 * Reaping. One server knows in which queues a lease may have run out (lua/reap.lua), and is asked for those.
 * Now and then all queues are looked at, so that a lease that was written by an older version is found too.
 * In a cluster each queue is asked whether it has one, many at once, and then those that have.
 */
import type { ReapedJob } from "../../core/store.ts";
import { flag } from "./args.ts";
import { readHeader } from "./header.ts";
import type { InsertHow } from "./insert.ts";
import { unescaped } from "./keys.ts";
import { bytes, list, number, rows, text } from "./reply.ts";
import type { Server } from "./server.ts";
import { named } from "./touched.ts";

/** In one call; whoever wants more calls again. */
const MOST = 200;
const LOOK_EVERYWHERE_MS = 60_000;

export class Reaps {
  #lookedAt = -Infinity;
  /** What a call met that had reaped something, and was answered with that: the next one says it. */
  #failure: unknown = null;

  async reap(how: InsertHow, { limit }: { readonly limit: number }): Promise<ReapedJob[]> {
    this.#sayFailure();
    if (how.server.isCluster) return this.#reapAll(how, limit);
    if (limit <= 0) return [];
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_EVERYWHERE_MS) return reapDue(how, limit);
    const reaped = await this.#reapAll(how, limit);
    // If more is left than was asked for, the next call looks again.
    if (reaped.length < limit) this.#lookedAt = now;
    return reaped;
  }

  async #reapAll(how: InsertHow, limit: number): Promise<ReapedJob[]> {
    const { reaped, failure } = await reapAll(how, limit);
    this.#failure = failure;
    if (reaped.length === 0) this.#sayFailure();
    return reaped;
  }

  /**
   * Where a part of the queues is out of reach, their holders cannot renew: the caller must know that before
   * they are back.
   */
  #sayFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure as Error;
  }
}

interface ReapedAll {
  readonly reaped: ReapedJob[];
  /** Of a queue that was out of reach; null: there was none. */
  readonly failure: unknown;
}

async function reapAll(how: InsertHow, limit: number): Promise<ReapedAll> {
  const { server, queues } = how;
  const asked = server.inTurns(await queues.all());
  const looked = server.isCluster ? await expiredAmong(server, asked) : { slots: asked.flat() };
  const reaped: ReapedJob[] = [];
  let failure: unknown = looked.failure ?? null;
  for (const slot of looked.slots) {
    if (reaped.length >= limit) break;
    try {
      const left = Math.min(MOST, limit - reaped.length);
      const reply = await server.onQueues("reap", slot, [left, flag(true)]);
      reaped.push(...readReaped(how, list(reply), slot));
    } catch (error) {
      // A node that is away must not keep the jobs of the others from being found.
      failure ??= error;
    }
  }
  return { reaped, failure };
}

interface Expired {
  readonly slots: readonly (readonly string[])[];
  readonly failure?: unknown;
}

/** Where a lease has run out. Of thousands of queues most have none: one after the other took seconds. */
async function expiredAmong(
  server: Server,
  asked: readonly (readonly (readonly string[])[])[],
): Promise<Expired> {
  const slots: (readonly string[])[] = [];
  let failure: unknown;
  for (const some of asked) {
    const answers = some.map(async (slot) => {
      const reply = await server.onQueues("reap", slot, [0, flag(true)]);
      if (number(list(reply)[2]) === 1) slots.push(slot);
    });
    for (const answer of await Promise.allSettled(answers)) {
      if (answer.status === "rejected") failure ??= answer.reason;
    }
  }
  return { slots, failure };
}

async function reapDue(how: InsertHow, limit: number): Promise<ReapedJob[]> {
  const reaped: ReapedJob[] = [];
  const { server } = how;
  for (let isMore = true; isMore && reaped.length < limit;) {
    const args = [Math.min(MOST, limit - reaped.length), flag(false)];
    const reply = list(await server.onRoot("reap", server.keys.home, args));
    const names = list(reply[1]).map((name) => unescaped(text(name)));
    const some = readReaped(how, reply, names);
    reaped.push(...some);
    isMore = number(reply[2]) === 1 && some.length > 0;
  }
  return reaped;
}

function readReaped(
  { touched }: InsertHow,
  [woken, , , ...jobs]: ReturnType<typeof list>,
  queues: readonly string[],
): ReapedJob[] {
  for (const queue of named(woken, queues)) touched.woken.add(queue);
  return rows(jobs, 4).map(([queue, id, packed, charged]): ReapedJob => {
    const header = readHeader(bytes(packed));
    const isCancelled = header.status === "cancelled";
    if (isCancelled) touched.finished.push(text(id));
    return {
      id: text(id),
      queue: queues[number(queue) - 1] ?? "",
      group: header.group,
      type: header.type,
      worker: header.worker ?? "",
      attempts: header.attempts,
      crashes: header.crashes,
      charged: number(charged) === 1,
      status: isCancelled ? "cancelled" : "queued",
    };
  });
}
