/**
 * The engine on a server that goes away and comes back: by kill -9, and behind a network that cuts and
 * swallows. A worker that is up must take jobs again, whatever happened.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FaultProxy } from "../../../../../test/servers/fault-proxy.ts";
import { startReplicaSet, type ReplicaSet } from "../../../../../test/servers/mongodb.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { Holdfast, type Receipt, type Worker } from "../../index.ts";
import { mongodbStore } from "./index.ts";

const AFTER_HEAL_MS = 15_000;
const LEASE_AND_MORE_MS = 25_000;
const TEST_MS = 60_000;

let server: ReplicaSet;
let proxy: FaultProxy;
let url: string;
let hf: Holdfast;
let worker: Worker;
let ran: string[];

beforeAll(async () => {
  server = await startReplicaSet({ nodes: 1 });
  proxy = new FaultProxy(server.url);
  const { port } = new URL(await proxy.open());
  // Directly: the driver would else ask the server for its address, and go round the proxy.
  url = `mongodb://127.0.0.1:${port}/outage?directConnection=true`;
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});
beforeEach(async () => {
  ran = [];
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  hf = new Holdfast({ store: mongodbStore({ url }), logger: silent });
  hf.define({
    type: "note",
    async run(job) {
      ran.push(String(job.payload));
    },
  });
  worker = await hf.work({ concurrency: 5 });
  await done(await hf.enqueue("note", "before"));
});
afterEach(async () => {
  await worker.stop({ graceMs: 0 });
  await hf.close();
});

async function done(receipt: Receipt, timeoutMs = AFTER_HEAL_MS): Promise<void> {
  expect(await hf.waitFor(receipt, { timeoutMs })).toMatchObject({ status: "succeeded" });
}

/** As a patient caller does. */
async function enqueueAtLast(payload: string): Promise<Receipt> {
  for (;;) {
    try {
      return await hf.enqueue("note", payload);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}

describe("a worker takes jobs again", () => {
  it(
    "after the server was killed and started again",
    async () => {
      await server.killPrimary();
      await server.resume();
      await done(await enqueueAtLast("after"));
      expect(ran).toEqual(["before", "after"]);
    },
    TEST_MS,
  );

  it(
    "after all its connections were cut",
    async () => {
      proxy.cut();
      await done(await enqueueAtLast("after"));
      expect(ran).toEqual(["before", "after"]);
    },
    TEST_MS,
  );

  it(
    "after replies were lost of what was done, which is done once",
    async () => {
      proxy.deafen();
      const doubtful = hf.enqueue("note", "doubtful");
      await new Promise((resolve) => setImmediate(resolve));
      proxy.cut();
      await done(await enqueueAtLast("after"));
      // A lease whose reply was lost may have it until it runs out.
      await done(await doubtful, LEASE_AND_MORE_MS);
      expect(ran.toSorted()).toEqual(["after", "before", "doubtful"]);
    },
    TEST_MS,
  );
});
