import { describe, expect, it } from "vitest";
import type { NewJob } from "../../core/job.ts";
import { WAITING_ENTRIES, type LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem, Store } from "../../core/store.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { memoryStore } from "../../stores/memory/index.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { LedgerWriter } from "./ledger-writer.ts";
import { Relay } from "./relay.ts";
import { systemRuntime } from "../runtime.ts";
import { WatchedStore } from "../watched-store.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A store whose spawned jobs pass through the outbox, which holds these items now. */
async function relaying(items: OutboxItem[]): Promise<Store> {
  const store = memoryStore();
  await store.open();
  return {
    ...store,
    info: () => ({ ...store.info(), spawnsElsewhere: "relayed" }),
    outbox: {
      read: async (limit) => items.slice(0, limit),
      clear: async (ids) => {
        const left = items.filter(({ id }) => !ids.includes(id));
        items.splice(0, items.length, ...left);
      },
    },
  };
}

function entriesItem(n: number): OutboxItem {
  const entry: LedgerEntry = {
    ...{ id: `entry-${n}`, kind: "failure", jobId: null, type: null, queue: null, group: null },
    ...{ category: null, state: "open", body: "{}", at: null },
  };
  return { id: `item-${n}`, kind: "entries", entries: [entry] };
}

function jobsItem(job: NewJob): OutboxItem {
  return { id: `jobs-${job.id}`, kind: "jobs", jobs: [job] };
}

async function relayOf(items: OutboxItem[], { isAway }: { readonly isAway: () => boolean }) {
  const runtime = systemRuntime();
  const store = await relaying(items);
  const elsewhere = memoryStore();
  const ledger = {
    ...elsewhere,
    async open() {
      if (isAway()) throw new StoreUnavailableError("away", { mayHaveHappened: false });
      await elsewhere.open();
    },
  };
  const ledgerWriter = new LedgerWriter({ store, ledger, runtime, logger });
  const watched = new WatchedStore({ store, runtime, logger, longestGapMs: () => 1_000 });
  const relay = new Relay({ watched, ledgerWriter });
  return { relay, store, elsewhere };
}

describe("Relay", () => {
  it("carries a job that stands behind more entries than a page while the ledger is away", async () => {
    const job = newJob();
    const items = Array.from({ length: 250 }, (_, n) => entriesItem(n));
    items.push(jobsItem(job));
    let isAway = true;
    const { relay, store, elsewhere } = await relayOf(items, { isAway: () => isAway });
    await expect(relay.relayToLedger(() => false)).rejects.toThrow(StoreUnavailableError);
    await relay.relayLocal(() => false);
    expect(await store.get([{ id: job.id }])).toMatchObject([{ status: "queued" }]);

    // Nothing that made way is lost, and all of it arrives once.
    isAway = false;
    await relay.relayToLedger(() => false);
    const { entries } = await elsewhere.ledger.read({}, { limit: 1_000 });
    expect(new Set(entries.map(({ id }) => id)).size).toBe(250);
    expect(items).toEqual([]);
    const { records } = await store.records.scan({ prefix: WAITING_ENTRIES, limit: 10 });
    expect(records).toEqual([]);
  });

  it("leaves entries where they are while no job is behind them", async () => {
    const items = [entriesItem(1), jobsItem(newJob()), entriesItem(2)];
    const { relay } = await relayOf(items, { isAway: () => true });
    await relay.relayLocal(() => false);
    expect(items.map(({ id }) => id)).toEqual(["item-1", "item-2"]);
  });
});
