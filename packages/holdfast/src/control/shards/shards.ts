/**
 * Queues in several parts. A job that names a sharded queue goes to one of its parts, by its group, else its
 * idempotency key, else its id; a worker that names it takes all of them, or those it is told. A part is a queue like
 * any other: with limits, holds and counts of its own, and on Redis Cluster a slot of its own. A gate of the queue is
 * one for all of its parts, and a part may have others besides.
 *
 * The numbers of all queues are one record. A process reads it when it opens the store, when the fleet says that
 * something changed, and behind an enqueue, every five seconds at most; one with a worker also every two minutes.
 * A number that grows moves no waiting job. What is in parts beyond a smaller one is still taken by workers of the
 * whole queue, and so is what waits under its plain name.
 */
import { InvalidOptionError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { BATCH_ITEMS } from "../../core/job.ts";
import type { Hold, HoldChange, LimitChange } from "../../core/line.ts";
import type { LinesPage } from "../../core/store.ts";
import { shardName, shardOf } from "../../core/shards.ts";
import type { Extension, ExtensionHost } from "../../engine/extension.ts";
import { NewestAnswer } from "../../core/newest-answer.ts";

const KEY = "holdfast/shards";
const CHORE = "shards";
const LOOK_MS = 5_000;
/** Who changed a number may have died before it told anybody, and jobs in new parts wait for workers that know of them. */
const LOOK_ANYWAY_MS = 120_000;
const PAGE = 200;

interface Entry {
  /** Over so many new jobs are spread; 0: not any more. */
  readonly shards: number;
  /** So many there were at most: there may be jobs in all of them. */
  readonly most: number;
}

interface Stored {
  readonly queues: Readonly<Record<string, Entry>>;
  readonly mark: string;
}

interface Follower {
  /** What a worker asks for, now. */
  readonly queues: Map<string, number>;
  /** As it was told. */
  readonly named: ReadonlyMap<string, number>;
  /** Null: all. */
  readonly only: ReadonlySet<number> | null;
}

export class Shards {
  readonly extension: Extension;
  readonly #host: ExtensionHost;
  readonly #followers = new Set<Follower>();
  readonly #newest = new NewestAnswer();
  #entries: ReadonlyMap<string, Entry> = new Map();
  #readAt = -Infinity;
  /** The last look failed. */
  #isStale = false;

  constructor(host: ExtensionHost) {
    this.#host = host;
    this.extension = {
      name: "shards",
      opened: () => this.read(),
      place: (job) => this.#place(job),
      enqueued: () => {
        if (host.runtime.monotonic() - this.#readAt >= LOOK_MS) this.#look();
      },
      chores: [{ name: CHORE, everyMs: LOOK_MS, run: () => this.#lookAnyway() }],
    };
    host.workers.onChange(() => this.#look());
  }

  /** Null: it is not sharded. */
  of(queue: string): number | null {
    return this.#entries.get(queue)?.shards || null;
  }

  /** The queue as people call it, of which this one is a part; or the same. */
  readonly whole = (queue: string): string => {
    if (this.#entries.size === 0) return queue;
    const colon = queue.lastIndexOf(":");
    const [name, shard] = [queue.slice(0, colon), Number(queue.slice(colon + 1))];
    const most = colon === -1 ? 0 : (this.#entries.get(name)?.most ?? 0);
    return shard < most && queue === shardName(name, shard) ? name : queue;
  };

  /** The queue itself and all of its parts. */
  readonly names = (queue: string): readonly string[] => {
    const most = this.#entries.get(queue)?.most ?? 0;
    return [queue, ...Array.from({ length: most }, (_, shard) => shardName(queue, shard))];
  };

  /** Does it to a queue, or to a group of it, in every part that it has now: one that is not known here would go on. */
  async each<Target extends string | { readonly queue: string }>(
    target: Target,
    act: (part: Target) => Promise<void>,
  ): Promise<void> {
    const queue: unknown = typeof target === "string" ? target : Object(target).queue;
    if (typeof queue === "string") await this.read();
    const names = typeof queue === "string" ? this.names(queue) : [];
    if (names.length < 2) return act(target);
    for (const name of names) {
      const part: unknown =
        typeof target === "string" ? name : { ...(target as object), queue: name };
      await act(part as Target);
    }
  }

  async set(queue: string, shards: number | null): Promise<void> {
    const { records, runtime, workers } = this.#host;
    const mark = runtime.id();
    for (;;) {
      const [found] = await records.read([KEY]);
      const before = found ? (JSON.parse(found.value) as Stored).queues : {};
      const had = before[queue]?.most ?? 0;
      const most = Math.max(shards ?? 0, had);
      await this.#prepare(queue, had, most);
      const queues = { ...before, [queue]: { shards: shards ?? 0, most } };
      const value = JSON.stringify({ queues, mark } satisfies Stored);
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: KEY, expect, value, ttlMs: null }]);
      const isOwn = result?.swapped === false && result.current?.value === value;
      if (!result?.swapped && !isOwn) continue;
      this.#newest.know();
      this.#take(queues);
      return workers.announceChange();
    }
  }

  /**
   * What holds and bounds the queue does so for new parts from their first job on, and they keep and age as it
   * does. A hold of a gate that ends by itself is set by the gate.
   */
  async #prepare(queue: string, from: number, to: number): Promise<void> {
    if (from === to) return;
    const { jobs, lines, settings, aging } = this.#host;
    const names = Array.from({ length: to - from }, (_, at) => shardName(queue, from + at));
    const [keep, agingMs] = await Promise.all([settings.get(queue), aging.of(queue)]);
    for (const name of names) {
      if (Object.keys(keep).length > 0) await settings.keep(name, keep);
      if (agingMs !== null) await aging.set(name, agingMs);
    }
    const now = await jobs.now();
    let held: HoldChange[] = [];
    let bound: LimitChange[] = [];
    const set = (group: string | null, holds: readonly Hold[], bounds: object) => {
      const own = holds.filter(({ owner, until }) => !owner.startsWith("gate:") || until === null);
      const ends = (until: number | null) => until && Math.max(1, Math.ceil(until - now));
      const isBound = Object.values(bounds).some((value) => value !== null);
      for (const name of names) {
        const line = { queue: name, group };
        for (const { owner, reason, by, until } of own)
          held.push({ ...line, owner, hold: { forMs: ends(until), reason, by } });
        if (isBound) bound.push({ ...line, ...bounds });
      }
    };
    let cursor: string | null = null;
    do {
      const page: LinesPage = await lines.lines(queue, { limit: PAGE, cursor });
      if (cursor === null && page.queue) {
        const { holds, maxActive, maxActivePerGroup, maxWaiting } = page.queue;
        set(null, holds, { maxActive, maxActivePerGroup, maxWaiting });
      }
      for (const { group, holds, maxActive, weight } of page.lines)
        set(group, holds, { maxActive, weight: weight === 1 ? null : weight });
      await inBatches(held, (some) => lines.hold(some));
      await inBatches(bound, (some) => lines.limit(some));
      [held, bound] = [[], []];
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  async read(): Promise<void> {
    const isNews = this.#newest.ask();
    const [found] = await this.#host.records.read([KEY]);
    if (isNews()) this.#take(found ? (JSON.parse(found.value) as Stored).queues : {});
  }

  /**
   * The queues of a worker, with the parts of those that have some. They change with what the store says, for as
   * long as the worker lives. Returns the way to end that.
   */
  follow(named: ReadonlyMap<string, number>, only: readonly number[] | null) {
    const follower = { queues: new Map<string, number>(), named, only: only && new Set(only) };
    const most = Math.max(
      0,
      ...[...named.keys()].map((queue) => this.#entries.get(queue)?.most ?? 0),
    );
    const beyond = only?.find((shard) => shard >= most);
    if (beyond !== undefined) {
      throw new InvalidOptionError(
        most === 0
          ? `shards names ${beyond}, and none of the queues of this worker has shards: hf.queues.set(queue, { shards }) gives it some`
          : `shards names ${beyond}, and the queues of this worker have shards 0 to ${most - 1}`,
      );
    }
    this.#followers.add(follower);
    this.#fill(follower);
    return { queues: follower.queues, end: () => void this.#followers.delete(follower) };
  }

  #fill({ queues, named, only }: Follower): void {
    for (const [queue, weight] of named) {
      const most = this.#entries.get(queue)?.most ?? 0;
      // What waits under the plain name goes with the first part.
      if (only === null || most === 0 || only.has(0)) queues.set(queue, weight);
      for (let shard = 0; shard < most; shard += 1) {
        const name = shardName(queue, shard);
        if ((only === null || only.has(shard)) && !queues.has(name)) queues.set(name, weight);
      }
    }
  }

  #place(job: NewJob): string | undefined {
    const entry = this.#entries.get(job.queue);
    if (!entry || entry.shards === 0) return undefined;
    const key = job.group || job.dedupe?.key || job.id;
    return shardName(job.queue, shardOf(key, entry.shards));
  }

  /** Answers in how many milliseconds to look again; if it fails, that is soon. */
  async #lookAnyway(): Promise<number> {
    const { monotonic } = this.#host.runtime;
    if (this.#isStale || monotonic() - this.#readAt >= LOOK_ANYWAY_MS) await this.read();
    return Math.max(LOOK_MS, LOOK_ANYWAY_MS - (monotonic() - this.#readAt));
  }

  /** In the background; if it fails, a process that enqueues or works looks again within seconds. */
  #look(): void {
    this.#readAt = this.#host.runtime.monotonic();
    this.read().catch(() => {
      this.#isStale = true;
      this.#host.chores.soon(CHORE);
    });
  }

  #take(queues: Stored["queues"]): void {
    this.#entries = new Map(Object.entries(queues));
    this.#isStale = false;
    this.#readAt = this.#host.runtime.monotonic();
    for (const follower of this.#followers) this.#fill(follower);
  }
}

async function inBatches<Item>(
  items: readonly Item[],
  call: (some: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += BATCH_ITEMS) {
    await call(items.slice(from, from + BATCH_ITEMS));
  }
}
