/**
 * A lease takes what its own transaction inserted without writing it into its line, and remembers
 * between transactions which line alone is open and when a hold ends. Both must be nothing but quicker:
 * two stores do the same, one of them with every such way barred, and must answer and store the same.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import { inTier } from "../../../../../test/runner/tier.ts";
import type { NewJob } from "../../core/job.ts";
import type { LeasedJob, LeaseReply, Store } from "../../core/store.ts";
import { idsOf, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { release, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";
import { seededRandom } from "../../testing/seeded-random.ts";

const GROUPS = ["", "", "", "a", "b"];
const TABLES = [
  "head",
  "queue",
  "line",
  "hold",
  "job",
  "ready",
  "later",
  "leased",
  "done",
  "details",
];

/** One call, made of a store and the jobs it has leased so far. */
type Call = (store: Store, held: LeasedJob[]) => Promise<unknown>;
/** Calls of one turn of the event loop: one transaction. */
type Turn = readonly Call[];

let folder: string;
const opened: { close(): unknown }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-fresh-"));
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await rm(folder, { recursive: true });
});

/** A write that changes nothing; what was inserted before it stands in line after it. */
async function writeNothing(store: Store): Promise<void> {
  await store.hold([{ queue: "nobody's", group: null, owner: "nobody", hold: null }]);
}

/** Answers what every call answered, and everything that is stored in the end. */
async function run(
  name: string,
  turns: readonly Turn[],
  { isBarred }: { readonly isBarred: boolean },
): Promise<{ answers: unknown[]; stored: unknown[] }> {
  const file = join(folder, name);
  let now = 1_000_000;
  const store = sqliteStore({ file, synchronous: "normal", now: () => now });
  opened.push(store);
  await store.open();
  const other = new DatabaseSync(file);
  opened.push(other);
  const held: LeasedJob[] = [];
  const answers: unknown[] = [];
  for (const turn of turns) {
    now += 10;
    // Whatever another connection writes, the store must forget what it knew.
    if (isBarred) other.exec("UPDATE holdfast_head SET one = 1");
    const calls = [writeNothing(store)];
    for (const call of turn) {
      calls.push(call(store, held).then((answer) => void answers.push(answer)));
      if (isBarred) calls.push(writeNothing(store));
    }
    await Promise.all(calls);
  }
  const stored = TABLES.map((table) => other.prepare(`SELECT * FROM holdfast_${table}`).all());
  return { answers, stored };
}

async function assertSame(name: string, turns: readonly Turn[]): Promise<unknown[]> {
  const quick = await run(`${name}-quick`, turns, { isBarred: false });
  const barred = await run(`${name}-barred`, turns, { isBarred: true });
  assert.deepEqual(quick, barred, name);
  return quick.answers;
}

function insert(of: Partial<NewJob> = {}): Call {
  const job = newJob(of);
  return (store) => store.insert([job]);
}

function lease(limit: number, queues = [QUEUE]): Call {
  return async (store, held) => {
    const asked = queues.map((queue) => ({ queue, limit }));
    const reply = await store.lease({ ...leaseRequest(limit), queues: asked });
    held.push(...reply.jobs);
    return reply;
  };
}

function leasedLast(answers: readonly unknown[]): readonly LeasedJob[] {
  return (answers.at(-1) as LeaseReply).jobs;
}

/** Everything a store may be asked for between an insert and a lease. */
function drawCall(random: () => number): Call {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const group = pick(GROUPS);
  const queue = pick([QUEUE, QUEUE, QUEUE, "other"]);
  const kind = Math.floor(random() * 20);
  if (kind < 8) {
    const tags = random() < 0.1 ? ["tagged"] : [];
    const how = { priority: pick([100, 100, 1]), delayMs: pick([0, 0, 0, 15]), tags };
    return insert({ queue, group, ...how, maxAttempts: pick([1, 5]) });
  }
  if (kind < 14) return lease(pick([1, 2, 50]), pick([[QUEUE], [QUEUE, "other"]]));
  if (kind < 17) {
    const child = newJob({ group: pick(GROUPS) });
    const outcome = pick([succeed(), succeed(), retry(), retry(15), release()]);
    return async (store, held) => {
      const job = held.shift();
      const spawn = outcome.kind === "succeed" ? { spawn: [child] } : {};
      return job && store.settle([settlement(job, outcome, spawn)]);
    };
  }
  if (kind === 17) {
    const hold = pick([null, { forMs: 15, reason: "closed", by: null }]);
    return (store) => store.hold([{ queue: QUEUE, group, owner: "pause", hold }]);
  }
  if (kind === 18) {
    const maxActive = pick([null, 1, 2]);
    return (store) => store.limit([{ queue: QUEUE, group, maxActive }]);
  }
  const filter = { queue: QUEUE, group, status: ["queued" as const] };
  const why = { reason: "not needed", by: null };
  return (store) => store.cancel({ filter, frozenAt: 2_000_000, limit: 2 }, why);
}

describe("a lease in the transaction of the insert", () => {
  it("starts the jobs in their order and leaves the rest in line", async () => {
    const jobs = [insert({ priority: 2 }), insert({ priority: 1 }), insert({ priority: 2 })];
    const answers = await assertSame("order", [[...jobs, lease(2)]]);
    const priorities = leasedLast(answers).map(({ priority }) => priority);
    assert.deepEqual(priorities, [1, 2]);
  });

  it("starts what has waited longer first", async () => {
    await assertSame("older", [[insert()], [insert(), lease(1)], [insert(), lease(5)]]);
  });

  it("keeps turns, caps and what one settle spawns into a line that another makes room in", async () => {
    const cap: Call = (store) => store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    const child = newJob({ group: "a" });
    const settleBoth: Call = (store, held) => {
      const [ofA, ofB] = held.splice(0) as [LeasedJob, LeasedJob];
      assert.deepEqual([ofA.group, ofB.group], ["a", "b"]);
      const spawning = settlement(ofB, succeed(), { spawn: [child] });
      return store.settle([spawning, settlement(ofA, succeed())]);
    };
    const both = [insert({ group: "b" }), insert({ group: "a" }), lease(5)];
    const answers = await assertSame("caps", [[cap], both, [settleBoth], [lease(5)]]);
    assert.deepEqual(idsOf(leasedLast(answers)), [child.id]);
  });

  it("opens a line whose hold has ended for what was inserted just now", async () => {
    const hold = { forMs: 15, reason: "closed", by: null };
    const close: Call = (store) => store.hold([{ queue: QUEUE, group: "a", owner: "o", hold }]);
    const held = insert({ group: "a" });
    await assertSame("hold", [[insert(), lease(5)], [close], [lease(5)], [held, lease(5)]]);
  });

  it("finds a line open although its holds changed between the two", async () => {
    const job = newJob({ group: "a" });
    const add: Call = (store) => store.insert([job]);
    const free: Call = (store) =>
      store.hold([{ queue: QUEUE, group: "a", owner: "o", hold: null }]);
    const answers = await assertSame("release", [[add, free, lease(5)]]);
    assert.deepEqual(idsOf(leasedLast(answers)), [job.id]);
  });

  it("does whatever it does in any other order of calls", { timeout: 180_000 }, async () => {
    for (let seed = 1; seed <= inTier({ daily: 60, full: 300 }); seed++) {
      const random = seededRandom(seed);
      const turns = Array.from({ length: 12 }, () =>
        Array.from({ length: 1 + Math.floor(random() * 5) }, () => drawCall(random)),
      );
      await assertSame(`seed-${seed}`, turns);
    }
  });
});
