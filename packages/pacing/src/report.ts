/** What a simulation has done so far: sums over its segments, planned against actual. */
import type { Totals, SegmentRecord } from "./segment-record.ts";
import { addTotals, NO_TOTALS } from "./segment-record.ts";
import { recordKeys } from "./names.ts";
import { ACTIVITIES, type ActivityType } from "./scenario.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Segment } from "./timeline.ts";
import type { Workshop } from "./workshop.ts";

/** Totals of all segments before `through`: nothing is left to do in them. */
interface Progress {
  readonly through: number;
  readonly totals: Totals;
}

export interface SegmentView extends Segment {
  readonly status: "pending" | SegmentRecord["status"];
  readonly expandedAt: Date | null;
  readonly completedAt: Date | null;
  /** As they were when it was looked at last. */
  readonly counters: Counters | null;
}

/** Counters by the names of system 3. */
export type Counters = Readonly<Record<string, number>>;

const PAGE = 200;

export function countersOf(totals: Totals): Counters {
  const byType = (word: string, counts: readonly number[]) =>
    ACTIVITIES.map((type, at) => [`${type}s_${word}`, counts[at]!] as const);
  return {
    records_created: totals.created,
    records_failed: totals.failed,
    deals_won: totals.won,
    deals_lost: totals.lost,
    ...Object.fromEntries(byType("scheduled", totals.scheduled)),
    ...Object.fromEntries(byType("executed", totals.executed)),
    activities_thinned: totals.thinned,
    activities_unfunded: totals.unfunded,
  };
}

/** Sums up all segments. Those at the beginning in which nothing is left to do are remembered as one. */
export async function sumUp(workshop: Workshop, sim: SimulationRecord): Promise<Totals> {
  const { book } = workshop;
  const frontier = await book.frontier(sim.id);
  const before = await book.desk.read<Progress>(recordKeys.progress(sim.id));
  const timeline = book.timeline(sim);
  let settled: Progress = before ?? { through: 0, totals: NO_TOTALS };
  let isSettled = true;
  let { totals } = settled;
  const next = frontier?.next ?? 0;
  for (let from = settled.through; from < next; from += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, next - from) }, (_, at) => from + at);
    const records = await Promise.all(numbers.map((number) => book.segment(sim.id, number)));
    for (const [at, number] of numbers.entries()) {
      const record = records[at] ?? null;
      const isEmpty = record === null && !frontier?.open.includes(number);
      const isDone = isEmpty || isFinished(record);
      const own = isEmpty
        ? NO_TOTALS
        : isDone
          ? record!.totals!
          : await book.totals(sim, timeline.segment(number));
      totals = addTotals(totals, own);
      isSettled &&= isDone;
      if (isSettled) settled = { through: number + 1, totals: addTotals(settled.totals, own) };
    }
  }
  if (settled.through > (before?.through ?? 0)) await remember(workshop, sim, settled);
  return totals;
}

/** In the background of a look: the furthest one stays. */
async function remember({ book }: Workshop, { id }: SimulationRecord, settled: Progress) {
  await book.desk.update<Progress, null>(recordKeys.progress(id), (now) => [
    now && now.through >= settled.through ? now : settled,
    null,
  ]);
}

function isFinished(record: SegmentRecord | null): boolean {
  if (record?.status !== "complete" || record.totals === null) return false;
  const { scheduled, executed } = record.totals;
  return scheduled.every((count, at) => count === executed[at]);
}

export async function segmentsPage(
  { book }: Workshop,
  sim: SimulationRecord,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<{ readonly segments: readonly SegmentView[]; readonly next: number | null }> {
  const timeline = book.timeline(sim);
  const until = Math.min(timeline.segmentCount, from + limit);
  const numbers = Array.from({ length: Math.max(0, until - from) }, (_, at) => from + at);
  const [frontier, ...records] = await Promise.all([
    book.frontier(sim.id),
    ...numbers.map((number) => book.segment(sim.id, number)),
  ]);
  const segments = numbers.map((number, at): SegmentView => {
    const record = records[at] ?? null;
    const isPast = number < (frontier?.next ?? 0) && !frontier?.open.includes(number);
    return {
      ...timeline.segment(number),
      status: record?.status ?? (isPast ? "complete" : "pending"),
      expandedAt: dateOf(record?.expandedAt),
      completedAt: dateOf(record?.completedAt),
      counters: record?.totals ? countersOf(record.totals) : null,
    };
  });
  return { segments, next: until < timeline.segmentCount ? until : null };
}

export interface BudgetView {
  /** Null: no bound. */
  readonly limit: number | null;
  /** Spent, or set aside for records that are on their way. */
  readonly reserved: number;
  readonly spent: number;
  readonly left: number | null;
}

export async function budgetsOf(
  { book }: Workshop,
  id: string,
  budgets: Readonly<Record<ActivityType, number | null>>,
  totals: Totals,
): Promise<Record<ActivityType, BudgetView>> {
  const { granted } = await book.budget(id);
  const views = ACTIVITIES.map((type, at) => {
    const limit = budgets[type];
    const left = limit === null ? null : Math.max(0, limit - granted[at]!);
    return [type, { limit, reserved: granted[at]!, spent: totals.scheduled[at]!, left }] as const;
  });
  return Object.fromEntries(views) as Record<ActivityType, BudgetView>;
}

function dateOf(at: number | null | undefined): Date | null {
  return at === null || at === undefined ? null : new Date(at);
}
