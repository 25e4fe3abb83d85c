/**
 * The book of facts: every job the store has taken, where it stands, and the settings of queues and
 * lines. It is a second account of the same history, kept with simple structures and no knowledge of
 * any store, so that the two can be held against each other.
 *
 * Here are the places and the looking up; what each verb changes is in `apply.ts`.
 */
import type { OperationRecord } from "../../../packages/holdfast/src/control/operations/operation.ts";
import type { FinishedStatus } from "../../../packages/holdfast/src/core/job.ts";
import { Heap } from "../../../packages/holdfast/src/stores/memory/heap.ts";
import type { JobFacts } from "./job-facts.ts";
import { StoreClock } from "./store-clock.ts";

export interface LineFacts {
  readonly queue: string;
  readonly group: string;
  readonly ready: Heap<JobFacts>;
  /** Owner to end; null: until released. */
  readonly holds: Map<string, number | null>;
  active: number;
  maxActive: number | null;
  weight: number;
  /** Jobs that other lines of the queue got while this one was open and had work. */
  passedOver: number;
  /** Lease calls that had room and left this line's open work where it was. */
  leftBehind: number;
}

export interface KeyFacts {
  readonly jobId: string;
  hash: string;
  readonly expiresAt: number | null;
}

export interface QueueFacts {
  readonly name: string;
  readonly lines: Map<string, LineFacts>;
  readonly delayed: Heap<JobFacts>;
  /** In the order they finished. */
  readonly finished: Readonly<Record<FinishedStatus, Set<JobFacts>>>;
  readonly keys: Map<string, KeyFacts>;
  readonly holds: Map<string, number | null>;
  /** Ready and delayed. */
  waiting: number;
  active: number;
  maxActive: number | null;
  maxActivePerGroup: number | null;
  maxWaiting: number | null;
}

/** What is remembered of a job that is gone. */
export interface Memory {
  readonly settledFence: number | null;
  readonly endings: ReadonlySet<FinishedStatus>;
  readonly forgetAt: number;
}

/** What is remembered of a name whose worker lost the reply of a lease. */
export interface Disowned {
  readonly except: ReadonlySet<string>;
  readonly forgetAt: number;
}

export class Book {
  readonly clock: StoreClock;
  readonly remembersMs: number;
  readonly jobs = new Map<string, JobFacts>();
  readonly gone = new Map<string, Memory>();
  readonly queues = new Map<string, QueueFacts>();
  readonly processing = new Set<JobFacts>();
  /** By the name that a worker never leases with again: what it knew it had. */
  readonly disowned = new Map<string, Disowned>();
  /** Entry ids that the ledger has, and those that came into the outbox and must get there. */
  readonly entries = new Set<string>();
  readonly promisedEntries = new Set<string>();
  /** As their records say, by id. */
  readonly operations = new Map<string, OperationRecord>();
  /** Hints a store would give for what has happened since they were last taken. */
  readonly wokenQueues = new Set<string>();
  readonly finishedIds = new Set<string>();
  /** Queued and processing jobs. */
  live = 0;
  lastSeq = 0;

  constructor(options: { readonly now: () => number; readonly remembersMs: number }) {
    this.clock = new StoreClock(options.now);
    this.remembersMs = options.remembersMs;
  }

  queue(name: string): QueueFacts {
    let queue = this.queues.get(name);
    if (queue) return queue;
    queue = {
      name,
      lines: new Map(),
      delayed: new Heap((a, b) => (a.runAt !== b.runAt ? a.runAt < b.runAt : a.seq < b.seq)),
      finished: { succeeded: new Set(), dead: new Set(), cancelled: new Set() },
      keys: new Map(),
      holds: new Map(),
      waiting: 0,
      active: 0,
      maxActive: null,
      maxActivePerGroup: null,
      maxWaiting: null,
    };
    this.queues.set(name, queue);
    return queue;
  }

  line(queueName: string, group: string): LineFacts {
    const queue = this.queue(queueName);
    let line = queue.lines.get(group);
    if (line) return line;
    line = {
      queue: queueName,
      group,
      ready: new Heap((a, b) =>
        a.priority !== b.priority ? a.priority < b.priority : a.seq < b.seq,
      ),
      holds: new Map(),
      active: 0,
      maxActive: null,
      weight: 1,
      passedOver: 0,
      leftBehind: 0,
    };
    queue.lines.set(group, line);
    return line;
  }

  memoryOf(id: string): Memory | null {
    const memory = this.gone.get(id);
    return memory !== undefined && memory.forgetAt > this.clock.now ? memory : null;
  }

  /** Whose key it is now, if anybody's. */
  keyHolder(queue: QueueFacts, key: string): KeyFacts | null {
    const taken = queue.keys.get(key);
    if (taken === undefined) return null;
    return taken.expiresAt === null || taken.expiresAt > this.clock.now ? taken : null;
  }

  /** Moves a job to another place and keeps the counts that follow from places. */
  stand(job: JobFacts, place: JobFacts["place"]): void {
    const queue = this.queue(job.queue);
    const line = this.line(job.queue, job.group);
    this.#leave(job, queue, line);
    job.place = place;
    switch (place) {
      case "ready":
        line.ready.push(job);
        this.wokenQueues.add(job.queue);
        queue.waiting += 1;
        break;
      case "delayed":
        queue.delayed.push(job);
        queue.waiting += 1;
        break;
      case "processing":
        this.processing.add(job);
        queue.active += 1;
        line.active += 1;
        break;
      case "gone":
        this.jobs.delete(job.id);
        return;
      default:
        queue.finished[place].add(job);
        this.finishedIds.add(job.id);
        return;
    }
    this.live += 1;
  }

  /** Lets delayed jobs whose time has come into their lines. */
  moveDue(): void {
    for (const queue of this.queues.values()) {
      for (let job = queue.delayed.peek(); job && job.runAt <= this.clock.now;) {
        this.stand(job, "ready");
        job = queue.delayed.peek();
      }
    }
  }

  #leave(job: JobFacts, queue: QueueFacts, line: LineFacts): void {
    const { place } = job;
    // A new job is in no place yet: it is said to be gone.
    if (place === "gone") return;
    if (place === "succeeded" || place === "dead" || place === "cancelled") {
      queue.finished[place].delete(job);
      return;
    }
    this.live -= 1;
    if (place === "processing") {
      this.processing.delete(job);
      queue.active -= 1;
      line.active -= 1;
      // Whoever waited for room may go on.
      this.wokenQueues.add(job.queue);
      return;
    }
    queue.waiting -= 1;
    if (place === "ready") line.ready.remove(job);
    else queue.delayed.remove(job);
  }
}
