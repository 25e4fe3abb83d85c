/**
 * The usual loop on MongoDB as a careful programmer would write it by hand: one collection, a status,
 * a token for each lease call, and `updateMany`. Holdfast's rates are reported as a multiple of its.
 *
 * It keeps what makes a queue safe: a UUIDv7 id that cannot be stored twice, an order by priority and
 * age through an index, leases with owner, end and fence (the token, and a count that grows), an index
 * that finds the leases that ran out, a count of attempts, a settle that checks the token, finished
 * jobs kept, the server's clock, and every acknowledgement by a majority, journaled. It leaves out the
 * rest: queues, groups and fair turns, holds and caps, retries, delays, keys, counts, results, events,
 * wakeups, a settle that may be repeated, retention.
 */
import { type Collection, MongoClient } from "mongodb";
import { uuidV7Text } from "./uuid-v7.ts";

export interface RawLease {
  readonly id: string;
  readonly token: string;
  readonly payload: string;
}

/** Status: 0 waiting, 1 leased, 2 done. */
interface RawJob {
  readonly _id: string;
  readonly type: string;
  readonly priority: number;
  readonly status: number;
  readonly attempts: number;
  readonly fence: number;
  readonly payload: string;
  readonly token?: string;
}

const PRIORITY = 100;
const LEASE_MS = 10_000;

export class RawMongodbLoop {
  readonly client: MongoClient;
  readonly #jobs: Collection<RawJob>;
  #calls = 0;

  private constructor(client: MongoClient) {
    this.client = client;
    this.#jobs = client.db().collection<RawJob>("raw_jobs");
  }

  static async open(url: string): Promise<RawMongodbLoop> {
    const client = new MongoClient(url, { writeConcern: { w: "majority", journal: true } });
    await client.connect();
    const loop = new RawMongodbLoop(client);
    await loop.#jobs.createIndexes([
      { key: { status: 1, priority: 1, _id: 1 }, partialFilterExpression: { status: 0 } },
      { key: { leaseUntil: 1 }, partialFilterExpression: { status: 1 } },
      { key: { token: 1 }, partialFilterExpression: { status: 1 } },
    ]);
    return loop;
  }

  async insert(type: string, payloads: readonly string[]): Promise<void> {
    const now = Date.now();
    await this.#jobs.insertMany(
      payloads.map((payload) => ({
        ...{ _id: uuidV7Text(now), type, priority: PRIORITY, status: 0 },
        ...{ attempts: 0, fence: 0, createdAt: new Date(now), payload },
      })),
    );
  }

  /** Somebody else may be quicker: what the update took is found by its token. */
  async lease(limit: number): Promise<RawLease[]> {
    const heads = await this.#jobs
      .find({ status: 0 }, { projection: { _id: 1 } })
      .sort({ priority: 1, _id: 1 })
      .limit(limit)
      .toArray();
    if (heads.length === 0) return [];
    const token = `raw:${process.pid}:${++this.#calls}`;
    await this.#jobs.updateMany({ _id: { $in: heads.map(({ _id }) => _id) }, status: 0 }, [
      {
        $set: {
          ...{ status: 1, token, attempts: { $add: ["$attempts", 1] } },
          fence: { $max: [{ $add: ["$fence", 1] }, { $toLong: "$$NOW" }] },
          leaseUntil: { $add: ["$$NOW", LEASE_MS] },
        },
      },
    ]);
    const mine = await this.#jobs
      .find({ token, status: 1 }, { projection: { payload: 1 } })
      .toArray();
    return mine.map(({ _id, payload }) => ({ id: _id, token, payload }));
  }

  /** Whoever lost the lease changes nothing and is not counted. */
  async settle(leases: readonly RawLease[], { keep }: { readonly keep: boolean }): Promise<number> {
    const token = leases[0]?.token ?? "";
    const held = { _id: { $in: leases.map(({ id }) => id) }, token, status: 1 };
    if (!keep) return (await this.#jobs.deleteMany(held)).deletedCount;
    const done = await this.#jobs.updateMany(held, {
      $set: { status: 2 },
      $currentDate: { finishedAt: true },
    });
    return done.modifiedCount;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
