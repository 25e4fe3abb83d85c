/**
 * Everything the memory store knows.
 *
 * A job stands in exactly one place at a time, and each place is a heap with its own order:
 *
 * - `ready`: in its line, by priority and then age. The lines with ready jobs form the queue's ring.
 * - `delayed`: in its queue, by due time. `lease` and every look move those that are due to `ready`.
 * - `processing`: in the store, by the end of its lease. `reap` takes those that ran out.
 * - `succeeded`, `dead`, `cancelled`: in its queue, by when it finished. `prune` takes the oldest.
 *
 * `placement.ts` is the only file that moves jobs between these places and keeps the counts.
 */
import type { DedupeKey, FinishedStatus, StoredJob } from "../../core/job.ts";
import type { Hold } from "../../core/line.ts";
import { Shares } from "../../core/shares.ts";
import type { OutboxItem, Why } from "../../core/store.ts";
import { Clock } from "./clock.ts";
import { Heap, type HeapItem } from "./heap.ts";
import { LedgerShelf } from "./ledger-shelf.ts";
import { LineRing } from "./line-ring.ts";
import { OrderedList } from "./ordered-list.ts";
import { RecordShelf } from "./record-shelf.ts";
import { Wakeups } from "./wakeup.ts";

export type Placement = "ready" | "delayed" | "processing" | FinishedStatus;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A job in memory: what `get` shows, and what only the store needs to know. */
export interface MemoryJob extends Mutable<
  Omit<StoredJob, "cancelAsked" | "dedupeKey" | "keyLifetime">
> {
  /** The order of insertion, and the age inside a line. */
  readonly seq: number;
  readonly dedupe: Mutable<DedupeKey> | null;
  /** Null before it is stored and after it is deleted. */
  placement: Placement | null;
  slot: number;
  deleted: boolean;
  /** The fence of the last settle, so that a repeat is known; null before the first. */
  settledFence: number | null;
  /** What this lease added to `attempts` (0 or 1), so that giving back never takes too much. */
  leaseSpent: number;
  /** It has crashed before, and its holder has not said that it starts. */
  isUnstarted: boolean;
  /** The count of the last renewal of this lease whose updates were written. */
  updatesOrder: number;
  /** Set while somebody wants the running job stopped. */
  cancelWhy: Why | null;
}

export class MemoryLine {
  readonly group: string;
  readonly ready = new Heap<MemoryJob>(byPlace);
  readonly holds = new Map<string, Hold>();
  active = 0;
  /** Its own cap; null: the queue's `maxActivePerGroup`. */
  maxActive: number | null = null;
  /** Its own weight; null: 1. */
  weight: number | null = null;
  /** Of its turn in the ring. */
  takenInTurn = 0;
  /** Its neighbours in the ring; itself when it is not in one. */
  next: MemoryLine = this;
  previous: MemoryLine = this;

  constructor(group: string) {
    this.group = group;
  }
}

export interface MemoryQueue {
  readonly name: string;
  /** Only lines with ready or active jobs, holds or settings. */
  readonly lines: Map<string, MemoryLine>;
  readonly ring: LineRing;
  readonly delayed: Heap<MemoryJob>;
  readonly finished: Readonly<Record<FinishedStatus, Heap<MemoryJob>>>;
  readonly keys: Map<string, TakenKey>;
  readonly holds: Map<string, Hold>;
  ready: number;
  active: number;
  /** When a job last came, went or moved here. */
  usedAt: number;
  maxActive: number | null;
  maxActivePerGroup: number | null;
  maxWaiting: number | null;
}

/** A key that blocks a second job. It may outlive its job: then only the id is left. */
export interface TakenKey extends HeapItem {
  readonly queue: string;
  readonly key: string;
  readonly jobId: string;
  hash: string;
  /** Null: freed with its job, or when its job finishes. */
  readonly expiresAt: number | null;
}

/** A worker's id that is not leased with any more, and what it had: `id:fence` of each. */
export interface Disowned {
  readonly except: ReadonlySet<string>;
  readonly forgetAt: number;
}

/** What is remembered of a deleted job. */
export interface Tombstone extends HeapItem {
  readonly id: string;
  readonly settledFence: number | null;
  readonly forgetAt: number;
}

export interface MemoryState {
  readonly clock: Clock;
  readonly remembersMs: number;
  readonly jobs: Map<string, MemoryJob>;
  /** By insertion. */
  readonly order: OrderedList<MemoryJob>;
  readonly queues: Map<string, MemoryQueue>;
  readonly shares: Shares;
  readonly leased: Heap<MemoryJob>;
  readonly disowned: Map<string, Disowned>;
  readonly tombstones: Map<string, Tombstone>;
  /** The same tombstones, by when they are forgotten. */
  readonly forgetting: Heap<Tombstone>;
  /** The keys that expire, by when. */
  readonly expiringKeys: Heap<TakenKey>;
  readonly ledger: LedgerShelf;
  readonly records: RecordShelf;
  readonly outbox: Map<string, OutboxItem>;
  readonly wakeups: Wakeups;
  lastSeq: number;
}

export function newState(now: () => number, remembersMs: number): MemoryState {
  return {
    clock: new Clock(now),
    remembersMs,
    jobs: new Map(),
    order: new OrderedList((a, b) => a.seq < b.seq),
    queues: new Map(),
    shares: new Shares(),
    leased: new Heap(byLeaseEnd),
    disowned: new Map(),
    tombstones: new Map(),
    forgetting: new Heap((a, b) => a.forgetAt < b.forgetAt),
    expiringKeys: new Heap((a, b) => (a.expiresAt ?? 0) < (b.expiresAt ?? 0)),
    ledger: new LedgerShelf(),
    records: new RecordShelf(),
    outbox: new Map(),
    wakeups: new Wakeups(),
    lastSeq: 0,
  };
}

/** A queue exists from its first job or setting on; `prune` forgets it an hour after its last use. */
export function queueOf(state: MemoryState, name: string): MemoryQueue {
  const known = state.queues.get(name);
  if (known !== undefined) return known;
  const queue: MemoryQueue = {
    name,
    lines: new Map(),
    ring: new LineRing(),
    delayed: new Heap(byDue),
    finished: {
      succeeded: new Heap(byFinish),
      dead: new Heap(byFinish),
      cancelled: new Heap(byFinish),
    },
    keys: new Map(),
    holds: new Map(),
    ready: 0,
    active: 0,
    usedAt: state.clock.now(),
    maxActive: null,
    maxActivePerGroup: null,
    maxWaiting: null,
  };
  state.queues.set(name, queue);
  return queue;
}

export function lineOf(queue: MemoryQueue, group: string): MemoryLine {
  const known = queue.lines.get(group);
  if (known !== undefined) return known;
  const line = new MemoryLine(group);
  queue.lines.set(group, line);
  return line;
}

function byPlace(a: MemoryJob, b: MemoryJob): boolean {
  return a.priority !== b.priority ? a.priority < b.priority : a.seq < b.seq;
}

function byDue(a: MemoryJob, b: MemoryJob): boolean {
  return a.runAt !== b.runAt ? a.runAt < b.runAt : a.seq < b.seq;
}

function byLeaseEnd(a: MemoryJob, b: MemoryJob): boolean {
  const [aEnd, bEnd] = [a.leaseUntil ?? 0, b.leaseUntil ?? 0];
  return aEnd !== bEnd ? aEnd < bEnd : a.seq < b.seq;
}

function byFinish(a: MemoryJob, b: MemoryJob): boolean {
  const [aEnd, bEnd] = [a.finishedAt ?? 0, b.finishedAt ?? 0];
  return aEnd !== bEnd ? aEnd < bEnd : a.seq < b.seq;
}
