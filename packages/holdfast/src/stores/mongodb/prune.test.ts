/** Several processes prune, each on its own, and none knows of the others. */
import { describe, expect, it } from "vitest";
import { mongodbWorld } from "../../../../../test/servers/mongodb-world.ts";
import { countsOf } from "../../testing/conformance/looking.ts";
import { adoptAll, adoptedJob, QUEUE } from "../../testing/conformance/new-job.ts";
import type { DbLike } from "./driver-like.ts";

const FINISHED = 10;
const KEPT = 6;
const POLICY = { queue: QUEUE, status: "succeeded", olderThanMs: null, keep: KEPT } as const;
const READS = new Set<PropertyKey>(["find", "aggregate"]);

const world = mongodbWorld();

/** The same database, but something happens before the n-th time that its finished jobs are looked at. */
function interrupted(nth: number, happen: () => Promise<unknown>): DbLike & { looks: number } {
  const { db } = world.database;
  const place = {
    looks: 0,
    databaseName: db.databaseName,
    client: db.client,
    createCollection: db.createCollection.bind(db),
    command: db.command.bind(db),
    collection(name: string, options?: object) {
      const collection = db.collection(name, options);
      return new Proxy(collection, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== "function") return value;
          const call = value.bind(target) as (...all: unknown[]) => { toArray(): Promise<unknown> };
          if (!READS.has(key) || !name.endsWith("jobs")) return call;
          return (...all: unknown[]) => ({
            async toArray() {
              place.looks += 1;
              if (place.looks === nth) await happen();
              return call(...all).toArray();
            },
          });
        },
      });
    },
  };
  return place as never;
}

describe("a prune by number", () => {
  it("keeps what is to be kept, wherever another one comes between its steps", async () => {
    for (let nth = 1, left = 0, looks = 1; nth <= looks; nth += 1) {
      const older = Array.from({ length: FINISHED - left }, (_, at) =>
        adoptedJob({ status: "succeeded", finishedAt: world.now - 1_000 + at }),
      );
      await adoptAll(world.store, older);
      const place = interrupted(nth, () => world.store.prune([POLICY], 100));
      const other = await world.process(place);
      place.looks = 0;
      await other.prune([POLICY], 100);
      looks = place.looks;
      await other.close();
      left = (await countsOf(world.store)).succeeded;
      expect(left, `another one before look ${nth}`).toBe(KEPT);
    }
  });
});
