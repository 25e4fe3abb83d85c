/**
 * Queues in several parts. A job that names a sharded queue goes to one of its parts, by its group, else its
 * idempotency key, else its id; a worker that names it takes all of them, or those it is told. A part is a queue like
 * any other: with limits, holds, counts and gates of its own, and on Redis Cluster a slot of its own.
 *
 * The numbers of all queues are one record. A process reads it when it opens the store, when the fleet says that
 * something changed, and behind an enqueue, every five seconds at most. A number that grows moves no waiting job. What is in
 * parts beyond a smaller one is still taken by workers of the whole queue, and so is what waits under its plain name.
 */
import { InvalidOptionError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { shardName, shardOf } from "../../core/shards.ts";
import type { Extension, ExtensionHost } from "../../engine/extension.ts";

const KEY = "holdfast/shards";
const LOOK_MS = 5_000;

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
  #entries: ReadonlyMap<string, Entry> = new Map();
  #readAt = -Infinity;

  constructor(host: ExtensionHost) {
    this.#host = host;
    this.extension = {
      name: "shards",
      opened: () => this.read(),
      place: (job) => this.#place(job),
      enqueued: () => {
        if (host.runtime.monotonic() - this.#readAt >= LOOK_MS) this.#look();
      },
    };
    host.workers.onChange(() => this.#look());
  }

  /** Null: it is not sharded. */
  of(queue: string): number | null {
    return this.#entries.get(queue)?.shards || null;
  }

  /** The queue itself and all of its parts. */
  names(queue: string): readonly string[] {
    const most = this.#entries.get(queue)?.most ?? 0;
    return [queue, ...Array.from({ length: most }, (_, shard) => shardName(queue, shard))];
  }

  /** Does it to a queue, or to a group of it, in every part. */
  async each<Target extends string | { readonly queue: string }>(
    target: Target,
    act: (part: Target) => Promise<void>,
  ): Promise<void> {
    const queue: unknown = typeof target === "string" ? target : Object(target).queue;
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
      const most = Math.max(shards ?? 0, before[queue]?.most ?? 0);
      const queues = { ...before, [queue]: { shards: shards ?? 0, most } };
      const value = JSON.stringify({ queues, mark } satisfies Stored);
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: KEY, expect, value, ttlMs: null }]);
      const isOwn = result?.swapped === false && result.current?.value === value;
      if (!result?.swapped && !isOwn) continue;
      this.#take(queues);
      return workers.announceChange();
    }
  }

  async read(): Promise<void> {
    const [found] = await this.#host.records.read([KEY]);
    this.#take(found ? (JSON.parse(found.value) as Stored).queues : {});
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

  /** In the background; if it fails, the next reason to look comes soon. */
  #look(): void {
    this.#readAt = this.#host.runtime.monotonic();
    this.read().catch(() => {});
  }

  #take(queues: Stored["queues"]): void {
    this.#entries = new Map(Object.entries(queues));
    this.#readAt = this.#host.runtime.monotonic();
    for (const follower of this.#followers) this.#fill(follower);
  }
}
