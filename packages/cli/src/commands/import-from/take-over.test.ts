import { expect, it } from "vitest";
import type { Store } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { exportJobs, type AdoptedJob } from "holdfast/move";
import type { ForeignJob, Source } from "./source.ts";
import { nameOf, takeOver } from "./take-over.ts";

const at = Date.UTC(2026, 0, 1);

function foreign(key: string, patch: Partial<ForeignJob> = {}): ForeignJob {
  return {
    ...{ key, type: "mail", queue: "old", group: null, payload: { key }, status: "queued" },
    ...{ priority: 100, attempts: 0, maxAttempts: 3, createdAt: at, runAt: at },
    ...{ startedAt: null, finishedAt: null, error: null },
    ...patch,
  };
}

function sourceOf(pages: readonly (readonly ForeignJob[])[]): Source {
  return {
    running: async () => 0,
    async *jobs() {
      yield* pages;
    },
    schedules: async () => [],
    left: async () => [],
    close: async () => {},
  };
}

const options = (to: Store | null) => ({
  ...{ system: "bullmq" as const, to, onProgress: () => {} },
  queueOf: ({ queue }: Pick<ForeignJob, "queue">) => queue ?? "default",
});

async function contents(store: Store): Promise<readonly AdoptedJob[]> {
  const jobs: AdoptedJob[] = [];
  for await (const page of exportJobs(store)) jobs.push(...page);
  return jobs.toSorted((a, b) => (a.payload < b.payload ? -1 : 1));
}

const PAGES = [
  [foreign("1"), foreign("2", { runAt: Date.now() + 3_600_000, attempts: 1 })],
  [
    foreign("3", {
      ...{ status: "dead", attempts: 3, finishedAt: at, group: "a b" },
      error: { message: "no mail", stack: "Error: no mail\n  at x" },
    }),
  ],
];

it("an import that was cut off goes on where it was, and takes nothing twice", async () => {
  const store = memoryStore();
  await store.open();
  let calls = 0;
  const dying: Store = {
    ...store,
    adopt: async (jobs) => {
      if (++calls === 2) throw new Error("killed");
      return store.adopt(jobs);
    },
  };
  await expect(takeOver(sourceOf(PAGES), options(dying))).rejects.toThrow("killed");
  expect(await contents(store)).toHaveLength(2);
  const again = await takeOver(sourceOf(PAGES), options(store));
  expect(again).toMatchObject({ waiting: 1, delayed: 1, failed: 1, added: 1, there: 2 });
  expect(again.missing).toEqual([]);
  expect(await contents(store)).toMatchObject([
    { queue: "old", status: "queued", attempts: 0, payload: '{"key":"1"}' },
    { queue: "old", status: "queued", attempts: 1 },
    { status: "dead", attempts: 3, reason: "failed", group: "a-b", error: { message: "no mail" } },
  ]);
});

it("a dry run counts, and takes nothing", async () => {
  const found = await takeOver(sourceOf(PAGES), options(null));
  expect(found).toMatchObject({ waiting: 1, delayed: 1, failed: 1, added: 0, byType: { mail: 3 } });
});

it("names a job that is here with another payload", async () => {
  const store = memoryStore();
  await store.open();
  await takeOver(sourceOf([[foreign("1")]]), options(store));
  const other = foreign("1", { payload: { changed: true } });
  expect((await takeOver(sourceOf([[other]]), options(store))).missing).toEqual(["1"]);
});

it("makes a name of whatever another system calls a queue", () => {
  expect(["mail", "a b/c", "_x", ""].map(nameOf)).toEqual(["mail", "a-b-c", "x_x", ""]);
});

it("gives a job a type that a handler can have", async () => {
  const store = memoryStore();
  await store.open();
  const taken = await takeOver(sourceOf([[foreign("1", { type: "send email" })]]), options(store));
  expect(taken).toMatchObject({ added: 1, missing: [], byType: { "send-email": 1 } });
  expect(await contents(store)).toMatchObject([{ type: "send-email" }]);
});
