/**
 * What happens to a new job of a queue or group that is full: as many of its jobs run, or are ready to, as its caps
 * let run at once.
 *
 *   wait            it waits, as everything does by default;
 *   reject          the enqueue is refused with `QueueFullError`;
 *   cancel-running  it is stored, and the job that has run longest is asked to stop for it.
 *
 * The modes of all queues are one record. A process reads it behind an enqueue, every five seconds at most: none
 * waits for it, and a process that enqueues nothing asks for nothing. Two enqueues at the same moment may both find
 * room: then one of them waits. Only enqueues of callers are asked: what is spawned, retried, fired by a schedule or
 * enqueued in a caller's transaction is not.
 */
import { QueueFullError, type HoldfastError } from "../../core/errors.ts";
import type { JobStatus, NewJob } from "../../core/job.ts";
import type { JobFilter } from "../../core/store.ts";
import type { Extension, ExtensionHost } from "../../engine/extension.ts";
import { NewestAnswer } from "../../core/newest-answer.ts";

export const OVERFLOWS = ["wait", "reject", "cancel-running"] as const;
export type Overflow = (typeof OVERFLOWS)[number];

const KEY = "holdfast/overflow";
const LOOK_MS = 5_000;
/** Caps above this are not counted to: a queue of so many is never called full. */
const MOST_COUNTED = 10_000;

interface Modes {
  readonly queues: Readonly<Record<string, Overflow>>;
  readonly mark: string;
}

export class Overflows {
  readonly extension: Extension;
  readonly #host: ExtensionHost;
  readonly #newest = new NewestAnswer();
  /** Of a part: the queue that was set. */
  readonly #wholeOf: (queue: string) => string;
  #modes: ReadonlyMap<string, Overflow> = new Map();
  #readAt = -Infinity;

  constructor(host: ExtensionHost, wholeOf: (queue: string) => string) {
    this.#host = host;
    this.#wholeOf = wholeOf;
    this.extension = {
      name: "overflow",
      refuses: (job) => (this.#modeOf(job) === "reject" ? this.#judge(job) : undefined),
      enqueued: (job, { outcome }) => {
        if (host.runtime.monotonic() - this.#readAt >= LOOK_MS) this.#look();
        if (outcome === "added" && this.#modeOf(job) === "cancel-running") {
          void this.#makeRoom(job);
        }
      },
    };
  }

  async of(queue: string): Promise<Overflow> {
    await this.#read();
    return this.#modes.get(queue) ?? "wait";
  }

  /** In the background; if it fails, the next enqueue after five seconds tries again. */
  #look(): void {
    this.#readAt = this.#host.runtime.monotonic();
    this.#read().catch(() => {});
  }

  async set(queue: string, mode: Overflow): Promise<void> {
    const { records, runtime } = this.#host;
    for (;;) {
      const [found] = await records.read([KEY]);
      const before = found ? (JSON.parse(found.value) as Modes).queues : {};
      const { [queue]: _, ...others } = before;
      const queues = mode === "wait" ? others : { ...others, [queue]: mode };
      const value = JSON.stringify({ queues, mark: runtime.id() } satisfies Modes);
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: KEY, expect, value, ttlMs: null }]);
      const isOwn = result?.swapped === false && result.current?.value === value;
      if (!result?.swapped && !isOwn) continue;
      this.#newest.know();
      this.#take(queues);
      return;
    }
  }

  /** A part is as its queue is, unless it was set itself. */
  #modeOf({ queue }: NewJob): Overflow | undefined {
    if (this.#modes.size === 0) return undefined;
    return this.#modes.get(queue) ?? this.#modes.get(this.#wholeOf(queue));
  }

  async #judge(job: NewJob): Promise<HoldfastError | undefined> {
    const full = await this.#fullOf(job, ["queued", "processing"]);
    if (full === null) return undefined;
    return new QueueFullError(
      `${full.what} runs its ${full.cap} jobs, and overflow of this queue is "reject": enqueue again later, or raise its cap with hf.limit`,
    );
  }

  async #makeRoom(job: NewJob): Promise<void> {
    const { jobs, logger } = this.#host;
    try {
      const full = await this.#fullOf(job, ["processing"]);
      if (full === null) return;
      const page = await jobs.find(
        { ...full.filter, status: ["processing"] },
        { limit: full.cap, order: "oldest", without: "payloads" },
      );
      const [longest] = [...page.jobs].sort((a, b) => (a.leasedAt ?? 0) - (b.leasedAt ?? 0));
      if (!longest || longest.id === job.id) return;
      const why = { reason: `job ${job.id} takes its place`, by: "overflow" };
      await jobs.cancel({ ids: [{ id: longest.id, queue: longest.queue }] }, why);
    } catch (error) {
      // The new job waits: that is late, not lost.
      logger.warn(`no running job could be stopped for job ${job.id}`, { error });
    }
  }

  /** Null: there is room. A cap of the group's own, set with `hf.limit`, is not looked at. */
  async #fullOf(job: NewJob, statuses: readonly JobStatus[]) {
    const { lines } = this.#host;
    const { queue, group } = job;
    const { queue: state } = await lines.lines(queue, { limit: 1 });
    const scopes = [
      {
        what: `group "${group}" of queue "${queue}"`,
        cap: state?.maxActivePerGroup ?? null,
        filter: { queue, group },
      },
      { what: `queue "${queue}"`, cap: state?.maxActive ?? null, filter: { queue } },
    ];
    for (const { what, cap, filter } of scopes) {
      if (cap === null || cap > MOST_COUNTED) continue;
      const found = new Set<string>();
      for (const status of statuses) {
        if (found.size < cap) await this.#find({ ...filter, status: [status] }, cap, found);
      }
      if (found.size >= cap) return { what, cap, filter };
    }
    return null;
  }

  /** Adds ids of ready and running ones, until there are so many. By id: one that starts meanwhile is one. */
  async #find(filter: JobFilter, upTo: number, found: Set<string>): Promise<void> {
    const { jobs } = this.#host;
    const isQueued = filter.status?.includes("queued") ?? false;
    const asked = isQueued ? { ...filter, delayed: false } : filter;
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof jobs.find>> = await jobs.find(asked, {
        ...{ limit: Math.min(200, upTo), cursor, without: "payloads" },
      });
      for (const { id } of page.jobs) found.add(id);
      cursor = page.nextCursor;
    } while (cursor !== null && found.size < upTo);
  }

  async #read(): Promise<void> {
    const isNews = this.#newest.ask();
    const [found] = await this.#host.records.read([KEY]);
    if (isNews()) this.#take(found ? (JSON.parse(found.value) as Modes).queues : {});
  }

  #take(queues: Modes["queues"]): void {
    this.#modes = new Map(Object.entries(queues));
    this.#readAt = this.#host.runtime.monotonic();
  }
}
