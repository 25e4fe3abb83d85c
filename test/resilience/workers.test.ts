/**
 * The engine on a server that goes away and comes back: in order, by kill -9, and behind a network
 * that swallows everything. A worker that is up must take jobs again, whatever happened.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  Holdfast,
  StoreUnavailableError,
  type Receipt,
  type Worker,
} from "../../packages/holdfast/src/index.ts";
import { FaultProxy } from "../servers/fault-proxy.ts";
import { SERVERS, type OutageServer } from "./outage-servers.ts";

/** Nobody waits so long but a test that fails. */
const AFTER_HEAL_MS = 30_000;
const TEST_MS = { timeout: 90_000 };

describe.each(SERVERS)("a worker on $name takes jobs again", TEST_MS, ({ start, store }) => {
  let server: OutageServer;
  let proxy: FaultProxy;
  let url: string;
  let hf: Holdfast;
  let worker: Worker;
  let ran: string[];

  beforeAll(async () => {
    server = await start();
    proxy = new FaultProxy(server.url);
    url = await proxy.open();
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });
  beforeEach(async () => {
    ran = [];
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    hf = new Holdfast({ store: store(url), logger: silent });
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

  async function done(receipt: Receipt): Promise<void> {
    const outcome = await hf.waitFor(receipt, { timeoutMs: AFTER_HEAL_MS });
    expect(outcome).toMatchObject({ status: "succeeded" });
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

  for (const how of ["fast", "kill"] as const) {
    it(`after the server was ended (${how}) and started again`, async () => {
      await server.halt(how);
      // The children of a killed server may still answer for a moment.
      const away = await hf.enqueue("note", "away").catch((error: unknown) => error);
      if (how === "fast") expect(away).toBeInstanceOf(StoreUnavailableError);
      await server.resume();
      await done(await enqueueAtLast("after"));
      const others = away instanceof StoreUnavailableError ? [] : ["away"];
      expect(ran.toSorted()).toEqual(["after", ...others, "before"]);
    });
  }

  it("after all its connections were cut", async () => {
    proxy.cut();
    await done(await enqueueAtLast("after"));
    expect(ran).toEqual(["before", "after"]);
  });

  it("after a network that swallowed everything has healed", async () => {
    proxy.set("hole");
    const lost = hf.enqueue("note", "lost?").catch(() => null);
    await new Promise((resolve) => setImmediate(resolve));
    proxy.set("open");
    await done(await enqueueAtLast("after"));
    await lost;
    expect(ran.filter((payload) => payload === "after")).toHaveLength(1);
  });

  it("after replies were lost of what was done, which is done once", async () => {
    proxy.deafen();
    const doubtful = hf.enqueue("note", "doubtful");
    await new Promise((resolve) => setImmediate(resolve));
    proxy.cut();
    await done(await enqueueAtLast("after"));
    // A lease whose reply was lost may have it until it runs out.
    await done(await doubtful);
    expect(ran.toSorted()).toEqual(["after", "before", "doubtful"]);
  });
});
