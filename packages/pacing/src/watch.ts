/**
 * Upkeep of a running simulation: a job that comes back until the end. It expands what is due by time, finds
 * records whose jobs are dead or gone, carries on what a killed worker left, gives back what dead jobs had
 * reserved, and says when all is done. While all goes well the workers themselves do these things at once, and
 * it finds nothing to do.
 */
import {
  expandFrom,
  expandNext,
  enqueueSegment,
  timeLimit,
  type Carrier,
} from "./expand-segment.ts";
import type { RecordPayload, Running, WatchPayload } from "./jobs.ts";
import { CONTROL_QUEUE, primaryQueue, recordKeys, SECONDARY_QUEUES, tags } from "./names.ts";
import { isFinished, sumUp } from "./report.ts";
import { followStatus } from "./rows.ts";
import type { ScenarioParams } from "./scenario.ts";
import type { SegmentRecord, Totals } from "./segment-record.ts";
import { move, type SimulationRecord } from "./simulation.ts";
import { unspent } from "./store-away.ts";
import { readSimulation, type Workshop } from "./workshop.ts";

interface Found {
  readonly sim: SimulationRecord;
  readonly params: ScenarioParams;
}

/** Between two looks. */
interface Seen {
  /** Jobs that died before this are known. */
  readonly deadTo: number;
  /** Looks in a row at which nothing was left, although not all activities are done. */
  readonly quiet: number;
}

const LIVE = ["queued", "processing"] as const;
const ENDED = ["dead", "cancelled"] as const;
/** Clocks and pages: deaths are looked for a little further back. */
const OVERLAP_MS = 60_000;
/** So long after its end a segment may have jobs that no one sees yet. */
const GONE_MS = 60_000;
const MOST_LOOKED_AT = 5_000;

export function runWatch(workshop: Workshop) {
  return async (job: Running<WatchPayload>) => {
    const { simulation } = job.payload;
    const found = await unspent(() => readSimulation(workshop, simulation));
    if (!found) return job.cancel("there is no such simulation");
    if (found.sim.status === "aborted") return job.cancel("the simulation was aborted");
    if (found.sim.status === "completed") return { completed: true };
    const carrier = { signal: job.signal, save: () => Promise.resolve() };
    const seen = (job.checkpoint ?? { deadTo: 0, quiet: 0 }) as Seen;
    const { nextMs, ...after } = await unspent(() => look(workshop, found, seen, carrier));
    if (nextMs === null) return { completed: true };
    await unspent(() => job.save(after));
    return job.snooze(nextMs);
  };
}

/** One look. `nextMs` is null when all is done. */
async function look(workshop: Workshop, found: Found, seen: Seen, carrier: Carrier) {
  const { hf, book, watchMs } = workshop;
  const { sim } = found;
  const now = (await hf.storeTime()).getTime();
  await noteDeaths(workshop, sim, seen.deadTo - OVERLAP_MS);
  await book.reconcile(sim);
  for (const number of (await book.frontier(sim.id))?.open ?? []) {
    await tend(workshop, found, { number, now, carrier });
  }
  await expandDue(workshop, found, carrier);
  const totals = await sumUp(workshop, sim);
  const quiet = (await isQuiet(workshop, sim, totals)) ? seen.quiet + 1 : 0;
  const isAllDone =
    quiet > 0 && totals.scheduled.every((count, at) => count === totals.executed[at]);
  // Activities that are on their way between two queues are seen by the second look.
  // One that was paused meanwhile is not done: ended now, this watch would be missing when it is resumed.
  if ((isAllDone || quiet > 1) && (await complete(workshop, sim, now))) {
    return { nextMs: null, deadTo: now, quiet };
  }
  await followStatus(workshop, sim, totals, now);
  return { nextMs: await nextLook(workshop, sim, { now, watchMs }), deadTo: now, quiet };
}

/** Records whose jobs died or were cancelled since the last look. */
async function noteDeaths(workshop: Workshop, sim: SimulationRecord, from: number): Promise<void> {
  const { hf, book } = workshop;
  const timeline = book.timeline(sim);
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof hf.jobs>> = await hf.jobs({
      ...{ queue: primaryQueue(sim.shard), group: sim.id, status: ENDED, limit: 200, cursor },
      finishedFrom: new Date(Math.max(0, from)),
    });
    const bySegment = new Map<number, number[]>();
    for (const { id, payload } of page.jobs) {
      const { index, segment } = payload as RecordPayload;
      const entry = await book.entry(sim, timeline.segment(segment), index);
      // One that was noted and then died: unless it was replayed just now.
      if (entry?.is === "dead") continue;
      if (entry && !isEnded((await hf.job(id))?.status)) continue;
      bySegment.set(segment, [...(bySegment.get(segment) ?? []), index]);
    }
    for (const [segment, indexes] of bySegment) {
      await book.noteDead(sim, timeline.segment(segment), indexes);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
}

function isEnded(status: string | undefined): boolean {
  return status === "dead" || status === "cancelled";
}

/** What a killed worker left of an open segment. */
async function tend(
  workshop: Workshop,
  { sim, params }: Found,
  {
    number,
    now,
    carrier,
  }: { readonly number: number; readonly now: number; readonly carrier: Carrier },
): Promise<void> {
  const { book, logger } = workshop;
  const segment = book.timeline(sim).segment(number);
  let record = await book.segment(sim.id, number);
  if (!isExpanded(record)) {
    if (await isExpanding(workshop, sim)) return;
    // It may have come to its end between the two questions.
    record = await book.segment(sim.id, number);
    if (!isExpanded(record)) {
      await enqueueSegment(workshop, { sim, params, segment, from: segment.firstIdx }, carrier);
    }
  }
  const before = await book.unfinished(sim, segment, MOST_LOOKED_AT);
  const isLate = now > segment.end + GONE_MS && before.open.length > 0;
  if (isLate && !(await hasJobs(workshop, sim, number))) {
    const { open } = await book.unfinished(sim, segment, MOST_LOOKED_AT);
    logger.warn("records whose jobs are gone", {
      simulation: sim.id,
      segment: number,
      open: open.length,
    });
    await book.noteDead(sim, segment, open);
  }
  const { full } = await book.unfinished(sim, segment, 0);
  const left = full.filter((chunk) => !record?.chunks.includes(chunk));
  const isDone = left.length === 0 ? (record?.chunks.length ?? 0) : -1;
  const isStuck = isDone === full.length && full.length > 0 && before.open.length === 0;
  // All of its chunks were noted, and the one who noted the last did not come to say so.
  if (isStuck ? await book.complete(sim, segment) : await book.chunkDone(sim, segment, left)) {
    await expandNext(workshop, sim, number);
  }
}

function isExpanded(record: SegmentRecord | null): boolean {
  return record?.status === "expanded" || record?.status === "complete";
}

async function hasJobs({ hf }: Workshop, sim: SimulationRecord, segment: number): Promise<boolean> {
  return hasAny(hf, {
    ...{ queue: primaryQueue(sim.shard), group: sim.id, status: LIVE },
    // Jobs of later segments are younger, and may be a million.
    ...{ tag: tags.segment(sim.id, segment), order: "oldest" },
  });
}

/** A store looks at so many jobs a call. That it has found none says nothing before it has come to the end. */
async function hasAny(
  hf: Workshop["hf"],
  query: Parameters<Workshop["hf"]["jobs"]>[0],
): Promise<boolean> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof hf.jobs>> = await hf.jobs({
      ...{ ...query, limit: 1, without: "payloads", cursor },
    });
    if (page.jobs.length > 0) return true;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return false;
}

async function isExpanding({ hf, jobs }: Workshop, { id }: SimulationRecord): Promise<boolean> {
  const { type } = jobs.expand;
  return hasAny(hf, { queue: CONTROL_QUEUE, group: id, type, status: LIVE });
}

/** By time: all that has begun. Strict: the next, if none is open and no one is on the way to it. */
async function expandDue(workshop: Workshop, found: Found, carrier: Carrier): Promise<void> {
  const { book } = workshop;
  const { sim } = found;
  for (;;) {
    const frontier = await book.frontier(sim.id);
    const segment = frontier?.next ?? 0;
    if (segment >= book.timeline(sim).segmentCount) return;
    const isTurn = sim.policy === "by-time" || (frontier?.open.length ?? 0) === 0;
    if (!isTurn || (await isExpanding(workshop, sim))) return;
    const until = await timeLimit(workshop, sim, segment);
    const how = { segment, from: null, isRepeated: false, carrier, until };
    const made = await expandFrom(workshop, found, how);
    if (made === null) return;
  }
}

/**
 * All segments are done, and no activity waits or runs; nor a record, because activities are stored with its success
 * and it may have been noted by a worker that was killed before that.
 */
async function isQuiet(
  { hf, book }: Workshop,
  sim: SimulationRecord,
  totals: Totals,
): Promise<boolean> {
  const frontier = await book.frontier(sim.id);
  const isThrough = frontier !== null && frontier.next >= book.timeline(sim).segmentCount;
  if (!isThrough || frontier.open.length > 0) return false;
  if (totals.scheduled.every((count, at) => count === totals.executed[at])) return true;
  for (const queue of [primaryQueue(sim.shard), ...SECONDARY_QUEUES]) {
    if (await hasAny(hf, { queue, group: sim.id, status: LIVE })) return false;
  }
  return true;
}

/** False: it was paused or aborted meanwhile. */
async function complete(workshop: Workshop, sim: SimulationRecord, now: number): Promise<boolean> {
  const { book, hf, logger } = workshop;
  const mark = crypto.randomUUID();
  // Counted once more: activities were done after their segments.
  const timeline = book.timeline(sim);
  for (let number = 0; number < timeline.segmentCount; number += 1) {
    const record = await book.segment(sim.id, number);
    if (record === null || isFinished(record)) continue;
    await book.summarize(sim, timeline.segment(number), null);
  }
  const after = await book.desk.update<SimulationRecord, SimulationRecord | null>(
    recordKeys.simulation(sim.id),
    (record) => {
      if (!record || record.status === "aborted" || record.status === "paused")
        return [record, null];
      const moved = move(record, "complete", { now, reason: null, mark });
      return [moved, moved];
    },
  );
  if (!after) return false;
  const totals = await sumUp(workshop, after);
  await followStatus(workshop, after, totals, now);
  logger.info("simulation completed", { simulation: sim.id, ...totals });
  await hf.tools.audit({ action: "complete simulation", details: { simulation: sim.id } });
  return true;
}

/** At the latest after `watchMs`; by time also when the next segment begins. */
async function nextLook(
  { book }: Workshop,
  sim: SimulationRecord,
  { now, watchMs }: { readonly now: number; readonly watchMs: number },
): Promise<number> {
  if (now < sim.plan.start) return Math.max(1, Math.min(sim.plan.start - now, 3_600_000));
  if (sim.policy !== "by-time") return watchMs;
  const next = (await book.frontier(sim.id))?.next ?? 0;
  const start = sim.plan.start + next * sim.plan.segmentMs;
  return next >= book.timeline(sim).segmentCount
    ? watchMs
    : Math.max(1, Math.min(watchMs, start - now));
}
