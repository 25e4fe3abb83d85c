/**
 * Leasing. Shares between the asked queues (`core/shares.ts`), turns between the lines of a queue
 * (`line-ring.ts`), priority and age inside a line (its heap). Held and full lines are passed by.
 */
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { capConcerns, heldUntil, isLineFull, isQueueFull } from "./gates.ts";
import { leasedSnapshot } from "./snapshot.ts";
import { moveDue, moveTo } from "./placement.ts";
import type { MemoryJob, MemoryLine, MemoryQueue, MemoryState } from "./state.ts";

/** One call of `lease`, and what has come of it so far. */
interface Call {
  readonly now: number;
  readonly request: LeaseRequest;
  readonly jobs: LeasedJob[];
  /** How many may still come from capped lines. */
  cappedLeft: number;
  bytesLeft: number;
}

export function lease(state: MemoryState, request: LeaseRequest): LeaseReply {
  const now = state.clock.now();
  const { maxBytes = Infinity } = request;
  const cappedLeft = cappedLimitOf(request);
  const call: Call = { now, request, jobs: [], cappedLeft, bytesLeft: maxBytes };
  const demands = request.queues.flatMap(({ queue: name, limit, weight = 1 }) => {
    const queue = state.queues.get(name);
    return queue === undefined || limit <= 0 ? [] : [{ name, queue, limit, weight }];
  });
  for (const { queue, limit } of demands) moveSomeDue(state, queue, { now, limit });
  state.shares.shareOut(demands, request.limit, ({ queue }, atMost) =>
    takeTurns(state, queue, { atMost, call }),
  );
  const nextAt = Math.min(Infinity, ...demands.map(({ queue }) => comeBackAt(queue, call)));
  return { jobs: call.jobs, nextInMs: nextAt === Infinity ? null : Math.max(0, nextAt - now) };
}

function cappedLimitOf({ limit, cappedLimit = limit }: LeaseRequest): number {
  return cappedLimit;
}

/**
 * In bounded steps, so that a hundred thousand jobs due at once do not stall one call: twice what the
 * call may take keeps ahead of it. A held queue has time until it opens.
 */
function moveSomeDue(
  state: MemoryState,
  queue: MemoryQueue,
  { now, limit }: { readonly now: number; readonly limit: number },
): void {
  if (heldUntil(queue.holds, now) !== null) return;
  moveDue(state, queue, { now, atMost: Math.max(200, 2 * limit) });
}

/** Hands out up to so many jobs of this queue, line by line; answers how many. */
function takeTurns(
  state: MemoryState,
  queue: MemoryQueue,
  { atMost, call }: { readonly atMost: number; readonly call: Call },
): number {
  if (heldUntil(queue.holds, call.now) !== null) return 0;
  let taken = 0;
  // Once every line was passed by since the last job, nothing is open.
  for (let passed = 0; taken < atMost && passed < queue.ring.size;) {
    if (isQueueFull(queue)) break;
    const line = queue.ring.current;
    const job = line?.ready.peek();
    if (line === null || job === undefined) break;
    const isCapped = capConcerns(queue, line);
    if (call.jobs.length > 0 && job.payload.length > call.bytesLeft) break;
    if (!isLineOpen(queue, line, call.now) || (isCapped && call.cappedLeft <= 0)) {
      queue.ring.pass();
      passed++;
      continue;
    }
    queue.ring.spend();
    call.jobs.push(startAttempt(state, job, call));
    if (isCapped) call.cappedLeft--;
    call.bytesLeft -= job.payload.length;
    taken++;
    passed = 0;
  }
  return taken;
}

function isLineOpen(queue: MemoryQueue, line: MemoryLine, now: number): boolean {
  return !isLineFull(queue, line) && heldUntil(line.holds, now) === null;
}

function startAttempt(state: MemoryState, job: MemoryJob, { now, request }: Call): LeasedJob {
  const isExhausted = job.attempts >= job.maxAttempts;
  job.leaseSpent = isExhausted ? 0 : 1;
  job.attempts += job.leaseSpent;
  job.fence = state.clock.fenceAfter(job.fence);
  job.status = "processing";
  job.worker = request.worker;
  job.startedAt = now;
  job.leasedAt = now;
  job.leaseUntil = instantAfter(now, request.leaseMs);
  job.updatedAt = now;
  job.updatesOrder = 0;
  job.isUnstarted = job.crashes > 0;
  moveTo(state, job, "processing");
  return leasedSnapshot(job, { isExhausted });
}

/**
 * When this queue may have something for the caller: now if a line is open, else when a job falls due
 * or a hold ends. Infinity: nothing in sight. What is only full is not worth coming back for (the
 * settle that makes room sends a wakeup), and neither are capped lines to a caller that wanted
 * nothing from them.
 */
function comeBackAt(queue: MemoryQueue, { now, request }: Call): number {
  const queueHeldUntil = heldUntil(queue.holds, now);
  if (queueHeldUntil !== null) return queueHeldUntil;
  const wantsCapped = cappedLimitOf(request) > 0;
  const nextDueAt = queue.delayed.peek()?.runAt ?? Infinity;
  if (isQueueFull(queue)) return nextDueAt > now ? nextDueAt : Infinity;
  let nextAt = nextDueAt;
  for (const line of queue.ring) {
    if (!wantsCapped && capConcerns(queue, line)) continue;
    if (isLineOpen(queue, line, now)) return now;
    nextAt = Math.min(nextAt, heldUntil(line.holds, now) ?? Infinity);
  }
  return nextAt;
}
