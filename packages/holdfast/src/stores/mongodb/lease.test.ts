/** Queues of many lines, and of more than one look takes in. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import type { Store } from "../../core/store.ts";
import { insertAll, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { mongodbStore } from "./index.ts";

const LINES = 1_400;
const GROUPS = Array.from(
  { length: LINES },
  (_, index) => `line-${String(index).padStart(4, "0")}`,
);
const HOLD = { forMs: null, reason: "closed", by: null };

let database: MongodbDatabase;
let store: Store;

beforeAll(async () => void (database = await mongodbDatabase()));
beforeEach(async () => {
  store = mongodbStore({ db: database.db });
  await store.open();
  const jobs = [...GROUPS, ...GROUPS].map((group) => newJob({ group }));
  for (let start = 0; start < jobs.length; start += 200) {
    await insertAll(store, jobs.slice(start, start + 200));
  }
});
afterEach(async () => {
  await store.close();
  await database.clear();
});
afterAll(() => database.drop());

async function groupsLeased(limit: number): Promise<string[]> {
  const { jobs } = await store.lease(leaseRequest(limit));
  return jobs.map(({ group }) => group);
}

describe("a queue of many lines", () => {
  it("gives every line its turn in each call, and every job once", async () => {
    const [queue, lines, each] = ["many", GROUPS.slice(0, 300), 4];
    for (let times = 0; times < each; times++) {
      const jobs = lines.map((group) => newJob({ queue, group }));
      await store.insert(jobs, { areNew: true });
    }
    const ids = new Set<string>();
    for (let call = 0; call < each; call++) {
      const { jobs } = await store.lease(leaseRequest(lines.length, { queue }));
      expect(jobs.map(({ group }) => group).sort()).toEqual(lines);
      for (const { id } of jobs) ids.add(id);
    }
    expect(ids.size).toBe(each * lines.length);
    expect((await store.lease(leaseRequest(1, { queue }))).jobs).toEqual([]);
  });
});

describe("a queue of very many lines", () => {
  it("gives every line its first turn before any has its second", async () => {
    const first: string[] = [];
    while (first.length < LINES) first.push(...(await groupsLeased(100)));
    expect(new Set(first).size).toBe(LINES);
    const second: string[] = [];
    for (let some = await groupsLeased(100); some.length > 0; some = await groupsLeased(100)) {
      second.push(...some);
    }
    expect(second).toHaveLength(LINES);
  });

  it("finds the one line that is open, wherever it stands", async () => {
    for (const open of ["line-0000", "line-0700", "line-1399"]) {
      const others = GROUPS.filter((group) => group !== open);
      const changes = others.map((group) => ({ queue: QUEUE, group, owner: open }));
      await store.hold(changes.map((change) => ({ ...change, hold: HOLD })));
      expect(await groupsLeased(10)).toEqual([open, open]);
      await store.hold(changes.map((change) => ({ ...change, hold: null })));
    }
  });

  it("finds lines that came before, among and behind the others", async () => {
    await groupsLeased(LINES);
    const came = ["aaa", "line-0699a", "zzz"];
    await insertAll(
      store,
      came.map((group) => newJob({ group })),
    );
    const seen: string[] = [];
    while (seen.length < LINES + came.length) seen.push(...(await groupsLeased(500)));
    expect(seen).toEqual(expect.arrayContaining(came));
  });
});
