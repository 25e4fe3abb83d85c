/** Whatever a caller gives by mistake, every public function answers with a `HoldfastError` or does its work. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as cli from "../../packages/cli/src/index.ts";
import * as connecting from "../../packages/holdfast/src/connect.ts";
import * as doctor from "../../packages/holdfast/src/doctor/index.ts";
import * as env from "../../packages/holdfast/src/env/index.ts";
import * as front from "../../packages/holdfast/src/index.ts";
import { HoldfastError } from "../../packages/holdfast/src/index.ts";
import * as move from "../../packages/holdfast/src/move/index.ts";
import * as memory from "../../packages/holdfast/src/stores/memory/index.ts";
import * as mongodb from "../../packages/holdfast/src/stores/mongodb/index.ts";
import * as postgres from "../../packages/holdfast/src/stores/postgres/index.ts";
import * as redis from "../../packages/holdfast/src/stores/redis/index.ts";
import * as sqlite from "../../packages/holdfast/src/stores/sqlite/index.ts";
import * as conformance from "../../packages/holdfast/src/testing/conformance/index.ts";
import * as testing from "../../packages/holdfast/src/testing/index.ts";
import * as classic from "../../packages/server/src/classic/index.ts";
import * as server from "../../packages/server/src/index.ts";

type Call = (...args: readonly unknown[]) => unknown;

const WRONG: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  "a number": 7,
  "a text": "text",
  "an empty object": {},
  "a wrong key": { wrong: true },
};
const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Alone, and behind what is right: in every place that it may stand in. */
async function mistakes(
  name: string,
  call: Call,
  right: readonly unknown[] = [],
): Promise<string[]> {
  const found: string[] = [];
  for (const [what, wrong] of Object.entries(WRONG)) {
    const tries = [[wrong], [wrong, wrong], [wrong, wrong, wrong]];
    for (let at = 1; at <= right.length; at += 1) tries.push([...right.slice(0, at), wrong]);
    for (const args of tries) {
      const error = await thrownBy(() => call(...args));
      if (error === null || error instanceof HoldfastError) continue;
      found.push(`${name} with ${what} at ${args.length}: ${String(error)}`);
    }
  }
  return found;
}

async function thrownBy(call: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error("it hangs")), 3_000);
  });
  const ended = (async () => {
    try {
      const made = await call();
      // What is iterated begins with the first step.
      await (Object(made) as Partial<AsyncGenerator>).next?.();
      return null;
    } catch (error) {
      return error;
    }
  })();
  const error = await Promise.race([ended, late]);
  clearTimeout(timer);
  return error;
}

/** What stands on a Holdfast, and a name that each of its calls may begin with. */
const PARTS = {
  ...{ workers: ["w"], queues: ["known"], failures: [], deadLetters: ["f"], operations: ["o"] },
  ...{ locks: ["l"], schedules: ["s"], gates: ["g"], records: [], alerts: [] },
};

describe("a mistaken call", () => {
  it("of an exported function or class is answered in our words", async () => {
    const entries = {
      front,
      connecting,
      memory,
      sqlite,
      postgres,
      redis,
      mongodb,
      testing,
      conformance,
      env,
      move,
      doctor,
      server,
      classic,
      cli,
    };
    const store = memory.memoryStore();
    await store.open();
    const own = new front.Holdfast({ store: memory.memoryStore(), logger });
    const right: Readonly<Record<string, readonly unknown[]>> = {
      ...{ createServer: [own], checkFleet: [own], openApiDocument: [server.allRoutes()] },
      ...{ exportJobs: [store], adoptJobs: [store], optionsFromEnv: [{}] },
      ...{ checkStore: ["memory:"], Tokens: [own.tools.ledgerRecords] },
    };
    const found: string[] = [];
    let calls = 0;
    for (const [entry, exports] of Object.entries(entries)) {
      for (const [name, value] of Object.entries(exports)) {
        if (typeof value !== "function") continue;
        calls += 1;
        const isClass = /^[A-Z]/.test(name);
        const call: Call = isClass
          ? (...args) => Reflect.construct(value, args) as unknown
          : (...args) => (value as Call)(...args);
        // An abstract class is for `instanceof`.
        if (name !== "HoldfastError") {
          found.push(...(await mistakes(`${entry}: ${name}`, call, right[name])));
        }
      }
    }
    await own.close();
    expect(found).toEqual([]);
    expect(calls).toBeGreaterThan(40);
  });

  describe("of a Holdfast", () => {
    let hf: front.Holdfast;
    beforeEach(() => {
      hf = new front.Holdfast({ store: memory.memoryStore(), logger });
    });
    afterEach(() => hf.close());

    it("is answered in our words, whichever method it is", async () => {
      const contract = front.defineJob({ type: "known", queue: "known" });
      const { id } = await hf.enqueue(contract, null);
      const right: Readonly<Record<string, readonly unknown[]>> = {
        enqueue: [contract, null],
        enqueueAll: [[null, 7, {}]],
        waitFor: ["0198c0de-0000-7000-8000-000000000000"],
        job: [id],
        lines: ["known"],
        cancel: [id],
        retry: [id],
        remove: [id],
        pause: ["known"],
        resume: ["known"],
        limit: ["known"],
        on: ["failed"],
        handle: ["other"],
        define: [{ type: "third" }],
      };
      const found: string[] = [];
      for (const name of methodsOf(hf)) {
        // What closes it, closes one of its own.
        const target = () =>
          name === "close" ? new front.Holdfast({ store: memory.memoryStore() }) : hf;
        const call: Call = (...args) => methodOf(target(), name)(...args);
        found.push(...(await mistakes(`hf.${name}`, call, right[name])));
      }
      for (const [part, names] of Object.entries(PARTS)) {
        const object = Reflect.get(hf, part) as object;
        for (const name of methodsOf(object)) {
          const call = methodOf(object as never, name as never) as Call;
          found.push(...(await mistakes(`hf.${part}.${name}`, call, names)));
        }
      }
      const defined = hf.define({ type: "defined", run: () => {} });
      for (const name of ["enqueue", "of"] as const) {
        found.push(...(await mistakes(`a job's ${name}`, methodOf(defined, name), [null])));
      }
      found.push(...(await mistakes("contract.of", methodOf(contract, "of"), [null])));
      expect(found).toEqual([]);
    });

    it("is answered in our words by a plan and by an operation", async () => {
      await hf.enqueueAll([{ type: "t", payload: null, queue: "known" }]);
      const found: string[] = [];
      const planned = () =>
        hf.operations.plan({ action: "cancel", filter: { queue: "known" }, limit: 1 });
      const start: Call = async (...args) => methodOf(await planned(), "start")(...args);
      found.push(...(await mistakes("plan.start", start)));
      for (const name of ["pause", "resume", "abort", "watch"]) {
        const call: Call = async (...args) =>
          methodOf(await (await planned()).start(), name)(...args);
        found.push(...(await mistakes(`operation.${name}`, call)));
      }
      expect(found).toEqual([]);
    });

    it("is answered in our words by a server", async () => {
      const one = server.createServer(hf, { auth: { adminToken: "a-token-for-tests" } });
      const found: string[] = [];
      for (const name of ["fetch", "node", "close"]) {
        found.push(...(await mistakes(`server.${name}`, methodOf(one, name))));
      }
      const listen: Call = (...args) => methodOf(one, "listen")(...args);
      for (const wrong of [null, 7, "text", { wrong: true }, { port: "x" }, { host: 7 }]) {
        await expect(listen(wrong), String(wrong)).rejects.toThrow(front.InvalidOptionError);
      }
      const tokens = new server.Tokens(hf.tools.ledgerRecords, Date.now);
      for (const name of ["create", "list", "remove"]) {
        found.push(...(await mistakes(`tokens.${name}`, methodOf(tokens, name))));
      }
      expect(found).toEqual([]);
    });

    it("is answered in our words by a worker and by within", async () => {
      const own = new front.Holdfast({ store: sqlite.sqliteStore({ file: ":memory:" }), logger });
      own.define({ type: "t", run: () => {} });
      const found: string[] = [];
      const stop: Call = async (...args) => methodOf(await own.work(), "stop")(...args);
      found.push(...(await mistakes("worker.stop", stop)));
      const enqueue: Call = (...args) => own.within(args[0]).enqueue("t", null);
      found.push(...(await mistakes("hf.within", enqueue)));
      await own.close();
      expect(found).toEqual([]);
    });

    it("is answered in our words by the job that a handler gets", async () => {
      const found: string[] = [];
      const methods = [
        "progress",
        "log",
        "spawn",
        "step",
        "save",
        "snooze",
        "cancel",
        "settleWithin",
      ];
      hf.handle("t", async (job) => {
        for (const name of methods) {
          const right = name === "step" ? ["a step"] : [];
          found.push(...(await mistakes(`job.${name}`, methodOf(job, name), right)));
        }
      });
      const receipt = await hf.enqueue("t", null, { queue: "default", maxAttempts: 1 });
      await hf.work();
      await hf.waitFor(receipt);
      expect(found).toEqual([]);
    });

    it("is answered in our words by the test kit", async () => {
      const t = testing.testHoldfast({ logger });
      const found: string[] = [];
      for (const name of ["advance", "drain", "enqueued", "now"] as const) {
        found.push(...(await mistakes(`t.${name}`, methodOf(t, name))));
      }
      await t.hf.close();
      expect(found).toEqual([]);
    });
  });
});

function methodOf(target: object, name: string): Call {
  return (Reflect.get(target, name) as Call).bind(target);
}

function methodsOf(target: object): string[] {
  const prototype = Object.getPrototypeOf(target) as object;
  return Object.getOwnPropertyNames(prototype).filter(
    (name) => name !== "constructor" && typeof Reflect.get(target, name) === "function",
  );
}
