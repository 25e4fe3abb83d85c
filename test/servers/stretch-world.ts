/**
 * For tests of the stretches in which MongoDB counts finished jobs: short ones, on a clock that stands still
 * until it is moved. Upkeep is called as a fleet would, every twenty minutes.
 */
import { afterEach, beforeEach, expect } from "vitest";
import type { AdoptedJob } from "../../packages/holdfast/src/core/job.ts";
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import type { DbLike, Document } from "../../packages/holdfast/src/stores/mongodb/driver-like.ts";
import { adoptedJob } from "../../packages/holdfast/src/testing/conformance/new-job.ts";
import { FAILURE } from "../../packages/holdfast/src/testing/conformance/settling.ts";
import { mongodbWorld, type MongodbWorld } from "./mongodb-world.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const A_DAY_MS = 24 * HOUR_MS;
/** Documents of a stretch. */
export const STRETCH = 10;
export const NOW = { delayMs: 0, runAt: null, attempts: 1 };
export const WHY = { reason: "a test", by: "somebody" };
const WORDS = ["fingerprint", "category", "type", "queue", "group"] as const;

export interface Stretch {
  readonly _id: number;
  readonly to: number;
  readonly sum?: { readonly documents: number };
}

type Counted = { readonly ended: Document; readonly dead: Document };

export class StretchWorld {
  readonly world: MongodbWorld;
  #store: Store | null = null;

  /** For the tests of the file, or block, that calls it. */
  constructor(server?: "mongodb" | "mongodb-standalone") {
    this.world = mongodbWorld(server);
    beforeEach(async () => void (this.#store = await this.another()));
    afterEach(() => this.#store?.close());
  }

  get store(): Store {
    if (this.#store === null) throw new Error("there is a store while a test runs");
    return this.#store;
  }

  another(db: DbLike = this.world.database.db): Promise<Store> {
    return this.world.process(db, { stretchDocuments: STRETCH });
  }

  async upkeep(hours: number, by: Store = this.store): Promise<void> {
    for (let third = 0; third < hours * 3; third++) {
      this.world.now += 20 * MINUTE_MS;
      await by.reap({ limit: 1 });
    }
  }

  async stretches(): Promise<Stretch[]> {
    const all = (await this.world.documents("stretches")) as unknown as Stretch[];
    return all.filter(({ to }) => to !== undefined).sort((a, b) => a._id - b._id);
  }

  async sealedOnes(): Promise<Stretch[]> {
    return (await this.stretches()).filter(({ sum }) => sum !== undefined);
  }

  /** Of some days, one a minute. */
  async past(count: number, overrides: Partial<AdoptedJob> = {}): Promise<AdoptedJob[]> {
    const error = overrides.status === "dead" ? FAILURE : null;
    const jobs = Array.from({ length: count }, (_, index) =>
      adoptedJob({
        ...{ status: "succeeded", error, ...overrides },
        finishedAt: this.world.now - 2 * A_DAY_MS + index * MINUTE_MS,
      }),
    );
    for (let from = 0; from < count; from += 200)
      await this.store.adopt(jobs.slice(from, from + 200));
    return jobs;
  }

  /** What a look at every document says. */
  async plainly(): Promise<Counted> {
    const ended: Record<string, number> = {};
    const dead: Record<string, unknown[]> = Object.fromEntries(WORDS.map((word) => [word, []]));
    const jobs = (await this.world.documents("jobs")).filter(
      (job) => job["finishedAt"] !== undefined,
    );
    for (const job of jobs) {
      const isPartly = job["status"] === "processing";
      const name = `${String(job["queue"])} ${isPartly ? "succeeded" : String(job["status"])}`;
      const n = Number(job["n"] ?? 1) - (isPartly ? Number(job["left"]) : 0);
      ended[name] = (ended[name] ?? 0) + n;
    }
    const died = jobs.filter(({ status }) => status === "dead");
    died.sort(
      (a, b) =>
        Number(a["finishedAt"]) - Number(b["finishedAt"]) || Number(a["seq"]) - Number(b["seq"]),
    );
    for (const word of WORDS) {
      const ofError = word === "fingerprint" || word === "category";
      const keyOf = (job: Document): unknown =>
        (ofError ? (job["error"] as Document | undefined)?.[word] : job[word]) ?? null;
      for (const [key, some] of Map.groupBy(died, keyOf)) {
        const [firstAt, lastAt] = [some[0]?.["finishedAt"], some.at(-1)?.["finishedAt"]];
        dead[word]?.push({
          key,
          count: some.length,
          firstAt,
          lastAt,
          example: some.at(-1)?.["_id"],
        });
      }
      dead[word]?.sort(byKey);
    }
    return { ended, dead };
  }

  async counted(by: Store = this.store): Promise<Counted> {
    const ended: Record<string, number> = {};
    for (const counts of await by.count()) {
      for (const status of ["succeeded", "dead", "cancelled"] as const) {
        if (counts[status] > 0) ended[`${counts.queue} ${status}`] = counts[status];
      }
    }
    const dead: Record<string, unknown[]> = {};
    for (const word of WORDS) {
      dead[word] = (await by.countDead({ by: word, limit: 1_000 })).sort(byKey);
    }
    return { ended, dead };
  }

  async expectRight(by: Store = this.store): Promise<void> {
    const shown = await this.counted(by);
    expect(shown).toEqual(await this.plainly());
  }

  async deadNow(): Promise<number> {
    return (await this.store.count()).reduce((sum, { dead }) => sum + dead, 0);
  }
}

function byKey(a: unknown, b: unknown): number {
  return String((a as Document)["key"]) < String((b as Document)["key"]) ? -1 : 1;
}
