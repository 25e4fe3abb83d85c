/**
 * What the first screen needs, read once for all who look: at most one read of the counts in a second, however
 * many callers ask, and the slower parts more seldom.
 */
import type {
  DeadSummary,
  FaultGroup,
  FleetWorker,
  GateView,
  Holdfast,
  LedgerEntryView,
  OperationView,
} from "holdfast";
import { sees, type Caller } from "./auth/caller.ts";
import { auditView } from "./routes/views.ts";

const FRESH_MS = 1_000;
const SLOW_MS = 5_000;
/** A ledger elsewhere that has not answered by then is not waited for. */
const PATIENCE_MS = 1_000;
const MOST_QUEUES = 200;
const LAST_ACTIONS = 10;
const WORST_FAULTS = 5;
const MOST_GATES = 20;
/** Of so many queues it is known whether they are held. */
const LOOKED_AT = 20;

export type Counts = Awaited<ReturnType<Holdfast["counts"]>>;

export interface Snapshot {
  readonly at: number;
  readonly counts: Counts;
  readonly workers: readonly FleetWorker[];
  readonly operations: readonly OperationView[];
  readonly dead: DeadSummary | null;
  /** The commonest few. */
  readonly faults: readonly FaultGroup[];
  /** Those that hold something back now. */
  readonly gates: readonly GateView[];
  readonly store: { readonly name: string; readonly latencyMs: number };
  readonly actions: readonly LedgerEntryView[];
  /** Of the foremost queues. */
  readonly held: ReadonlyMap<string, readonly string[]>;
}

type Counted = Pick<Snapshot, "at" | "counts">;
type Slow = Omit<Snapshot, "at" | "counts">;

export class OverviewReader {
  readonly #hf: Holdfast;
  readonly #now: () => number;
  #reading: Promise<Snapshot> | null = null;
  #last: Snapshot | null = null;
  #counting: Promise<Counted> | null = null;
  #counted: Counted | null = null;
  #slow: (Slow & { readonly at: number }) | null = null;
  /** How often the store was asked for counts, for tests. */
  reads = 0;

  constructor(hf: Holdfast, now: () => number) {
    this.#hf = hf;
    this.#now = now;
  }

  /** Throws while the store is away. */
  read(): Promise<Snapshot> {
    if (this.#last && this.#isWithin(this.#last.at, FRESH_MS)) return Promise.resolve(this.#last);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Of all queues, at most a second old: pages of queues share them with the overview. */
  async counts(): Promise<Counts> {
    return (await this.#count()).counts;
  }

  #count(): Promise<Counted> {
    const last = this.#counted;
    if (last && this.#isWithin(last.at, FRESH_MS)) return Promise.resolve(last);
    this.#counting ??= this.#countAnew().finally(() => {
      this.#counting = null;
    });
    return this.#counting;
  }

  async #countAnew(): Promise<Counted> {
    const at = this.#now();
    this.reads += 1;
    this.#counted = { at, counts: await this.#hf.counts() };
    return this.#counted;
  }

  async #read(): Promise<Snapshot> {
    const { at, counts } = await this.#count();
    if (!this.#slow || !this.#isWithin(this.#slow.at, SLOW_MS)) {
      this.#slow = { at, ...(await this.#readSlow(counts)) };
    }
    const { at: _, ...slow } = this.#slow;
    this.#last = { at, counts, ...slow };
    return this.#last;
  }

  /** A time that is yet to come is of a clock that was set back: nobody knows how long ago that was. */
  #isWithin(at: number, ms: number): boolean {
    const age = this.#now() - at;
    return age >= 0 && age < ms;
  }

  async #readSlow(counts: Counts): Promise<Slow> {
    const hf = this.#hf;
    const [workers, operations, dead, faults, gates, store, actions, held] = await Promise.all([
      hf.workers.list(),
      hf.operations.list(),
      hf.deadLetters.summary(),
      hf.deadLetters.groups({ limit: WORST_FAULTS }),
      hf.gates.list(),
      this.#storeOf(),
      this.#actions(),
      this.#heldOf(foremost(largest(counts), counts, LOOKED_AT)),
    ]);
    const holding = gates.filter(({ state, cooldownUntil }) => {
      return (
        state !== "closed" || (cooldownUntil !== null && cooldownUntil.getTime() > this.#now())
      );
    });
    return {
      ...{ workers, operations: operations.slice(0, 50), dead, faults, actions, held, store },
      gates: holding.slice(0, MOST_GATES),
    };
  }

  /** There may be no ledger, or one that is away: then those that were read last. */
  async #actions(): Promise<Snapshot["actions"]> {
    const before = this.#slow?.actions ?? [];
    const { promise: late, resolve } = Promise.withResolvers<Snapshot["actions"]>();
    const timer = setTimeout(() => resolve(before), PATIENCE_MS);
    const read = this.#hf.ledger({ kind: "audit", limit: LAST_ACTIONS }).then(
      ({ entries }) => entries,
      () => before,
    );
    return Promise.race([read, late]).finally(() => clearTimeout(timer));
  }

  async #storeOf(): Promise<Snapshot["store"]> {
    const { name } = await this.#hf.info();
    const began = performance.now();
    await this.#hf.tools.ping();
    return { name, latencyMs: Math.round((performance.now() - began) * 10) / 10 };
  }

  async #heldOf(queues: readonly string[]): Promise<Map<string, readonly string[]>> {
    const found = await Promise.all(
      queues.map(async (queue) => {
        const lines = await this.#hf.lines(queue, { limit: 1 });
        return [queue, lines.queue?.holds.map(({ reason }) => reason) ?? []] as const;
      }),
    );
    return new Map(found);
  }
}

function largest(counts: Counts): string[] {
  const size = (queue: string) => {
    const { ready = 0, delayed = 0, processing = 0, dead = 0 } = counts[queue] ?? {};
    return ready + delayed + processing + dead;
  };
  return Object.keys(counts).sort((a, b) => size(b) - size(a) || (a < b ? -1 : 1));
}

/**
 * Half of them because their oldest job waits longest, the others because they are the largest: the first screen says
 * what waits longest, and the queue of one job that nobody takes is the smallest of thousands.
 */
function foremost(
  largestFirst: readonly string[],
  counts: Counts,
  most: number,
): readonly string[] {
  if (largestFirst.length <= most) return largestFirst;
  const since = (queue: string) => counts[queue]?.oldestReadyAt ?? Infinity;
  const latest = largestFirst
    .filter((queue) => since(queue) < Infinity)
    .sort((a, b) => since(a) - since(b))
    .slice(0, most / 2);
  const kept = new Set(latest);
  for (const queue of largestFirst) if (kept.size < most) kept.add(queue);
  return largestFirst.filter((queue) => kept.has(queue));
}

const NUMBERS = [
  ...(["ready", "delayed", "processing", "succeeded", "dead", "cancelled", "retrying"] as const),
];

/** As one caller may see it. */
export function overviewFor(hf: Holdfast, snapshot: Snapshot, caller: Caller) {
  const { at, counts, workers, operations, dead, faults, gates, actions, held, store } = snapshot;
  const queues = largest(counts).filter((queue) => sees(caller, queue));
  const totals = Object.fromEntries(
    NUMBERS.map((name) => [name, queues.reduce((sum, one) => sum + (counts[one]?.[name] ?? 0), 0)]),
  );
  const oldest = queues.flatMap((queue) => counts[queue]?.oldestReadyAt ?? []);
  const seen = workers.filter((worker) => worker.queues.some((queue) => sees(caller, queue)));
  return {
    at: new Date(at),
    totals: { ...totals, oldestReadyAt: oldest.length > 0 ? new Date(Math.min(...oldest)) : null },
    queueCount: queues.length,
    queues: foremost(queues, counts, MOST_QUEUES).map((queue) => queueCounts(queue, snapshot)),
    workers: {
      count: seen.length,
      slots: seen.reduce((sum, { slots }) => sum + slots, 0),
      active: seen.reduce((sum, { active }) => sum + active, 0),
      quiet: seen.filter(({ isQuiet }) => isQuiet).length,
    },
    store,
    // A gate and a fault belong to no one queue: a caller with a scope finds them on the pages of its queues.
    gates: caller.queues === null ? gates.map(gateSeen) : [],
    faults: caller.queues === null ? faults.map((fault) => faultSeen(hf, fault)) : [],
    deadByCategory: caller.queues === null ? (dead?.byCategory ?? {}) : {},
    operations: operations
      .filter(({ state, filter }) => {
        const isOpen = state === "running" || state === "paused";
        return isOpen && sees(caller, filter.queue as string | undefined);
      })
      .slice(0, 10),
    actions: actions
      .filter(({ queue }) => sees(caller, queue))
      .map((entry) => auditView(hf, entry, { isShort: true })),
    held: [...held].some(([queue, reasons]) => reasons.length > 0 && sees(caller, queue)),
  };
}

function gateSeen({ name, state, failures, openUntil, cooldownUntil, targets }: GateView) {
  const queues = [...new Set(targets.map(({ queue }) => queue))].slice(0, MOST_GATES);
  return { name, state, failures, openUntil, cooldownUntil, queues };
}

function faultSeen(hf: Holdfast, fault: FaultGroup) {
  const { fingerprint, type, category, message, count, firstAt, lastAt, state } = fault;
  const told = message === null ? null : hf.tools.redact.text(message);
  return { fingerprint, type, category, message: told, count, firstAt, lastAt, state };
}

/** One queue of a snapshot. */
export function queueCounts(queue: string, { counts, held }: Pick<Snapshot, "counts" | "held">) {
  const { oldestReadyAt = null, ...numbers } = counts[queue] ?? {};
  const zeros = Object.fromEntries(NUMBERS.map((name) => [name, 0]));
  return {
    queue,
    ...zeros,
    ...numbers,
    oldestReadyAt: oldestReadyAt === null ? null : new Date(oldestReadyAt),
    holds: held.get(queue) ?? null,
  };
}
