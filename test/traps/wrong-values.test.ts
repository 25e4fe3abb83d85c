/** A right option with a wrong value is refused as well: not taken for its opposite, not ignored, no TypeError. */
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { checkStore } from "../../packages/holdfast/src/doctor/index.ts";
import { Holdfast, HoldfastError } from "../../packages/holdfast/src/index.ts";
import { moveJobs } from "../../packages/holdfast/src/move/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { testHoldfast } from "../../packages/holdfast/src/testing/index.ts";

let hf: Holdfast;
beforeEach(() => {
  hf = new Holdfast({ store: memoryStore() });
});
afterEach(() => hf.close());

/** As JavaScript would call it: the compiler sees none of these mistakes. */
const wrong = (value: unknown) => value as never;

async function refusal(call: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HoldfastError);
  return (error as Error).message;
}

async function refusals(calls: Readonly<Record<string, () => unknown>>, says: RegExp) {
  for (const [name, call] of Object.entries(calls)) {
    expect(await refusal(call), name).toMatch(says);
  }
}

describe("a wrong value", () => {
  it("of a flag is not taken for false", async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await Promise.all([from.open(), to.open()]);
    const text = wrong("true");
    const calls = {
      final: () => hf.failures.list({ final: text }),
      "final of a count": () => hf.failures.count({ final: text }),
      resolved: () => hf.failures.list({ resolved: text }),
      withJobs: () => hf.failures.list({ withJobs: text }),
      isFinal: () => hf.ledger({ isFinal: text }),
      all: () => hf.deadLetters.groups({ all: text }),
      finished: () => moveJobs({ from, to, finished: text }),
      ledger: () => moveJobs({ from, to, ledger: text }),
    };
    await refusals(calls, /must be true or false, not "true"/);
  });

  it("of a cursor is refused, whatever is listed", async () => {
    const cursor = wrong(7);
    const calls = {
      jobs: () => hf.jobs({ cursor }),
      ledger: () => hf.ledger({ cursor }),
      failures: () => hf.failures.list({ cursor }),
      "dead letters": () => hf.deadLetters.list({ cursor }),
      locks: () => hf.locks.list({ cursor }),
      alerts: () => hf.alerts.list({ cursor }),
      runs: () => hf.schedules.runs("nightly", { cursor }),
      records: () => hf.records.list({ cursor }),
    };
    await refusals(calls, /a cursor is the nextCursor of the page before/);
  });

  it("of a filter is refused with the nearest one", async () => {
    const category = wrong("netwrk");
    const calls = {
      failures: () => hf.failures.list({ category }),
      count: () => hf.failures.count({ category }),
    };
    await refusals(calls, /did you mean "network"\?/);
    const order = () => hf.deadLetters.list({ order: wrong("new") });
    expect(await refusal(order)).toContain('did you mean "newest"?');
  });

  it("of a name is refused where only names can be meant", async () => {
    const calls = {
      groups: () => hf.deadLetters.groups({ queue: wrong(7) }),
      alerts: () => hf.alerts.list({ queue: "no queue!" }),
      "gates.get": () => hf.gates.get("api", { group: wrong(7) }),
      "gates.held": () => hf.gates.held({ queue: "mail", group: wrong(7) }),
      "gates.report": () => hf.gates.report("api", undefined, { group: wrong(7) }),
    };
    await refusals(calls, /cannot be the name of/);
    const t = testHoldfast();
    expect(await refusal(() => t.ticks(wrong(7)))).toContain("must be a text");
    await t.hf.close();
  });

  it("of a list of statuses is refused if it is empty: it says neither all nor none", async () => {
    expect(await refusal(() => hf.jobs({ status: [] }))).toContain("at least one of them");
    const plan = () => hf.operations.plan({ action: "remove", filter: { status: [] } });
    expect(await refusal(plan)).toContain("at least one of them");
  });

  it("of a URL is named by its place: a port, the database of Redis", async () => {
    expect(await refusal(() => connect("postgres://localhost:99999/db"))).toContain("its port");
    expect(await refusal(() => connect("redis://localhost:1/jobs"))).toContain("?prefix=");
  });

  it("of a file is told by the doctor as the store would tell it", async () => {
    const missing = () => checkStore("sqlite:/no/such/folder/jobs.db");
    expect(await refusal(missing)).toContain("does not exist: create");
    const self = () => checkStore(`sqlite:${fileURLToPath(import.meta.url)}`);
    expect(await refusal(self)).toContain("is not a SQLite database");
  });

  it("of an id is refused, whatever it is", async () => {
    expect(await refusal(() => hf.operations.start(wrong(Symbol("id"))))).toContain("no operation");
  });

  it("of a preset is refused when it is saved, not on the night when it is planned", async () => {
    const save = () => hf.deadLetters.presets.save("nightly", { strategy: wrong("youngest") });
    expect(await refusal(save)).toContain("strategy must be");
  });

  it("is an answer that a caller can catch, not a throw beside the promise", () => {
    const { deadLetters } = hf;
    for (const name of ["resolve", "ignore", "reopen"] as const) {
      const asked = deadLetters[name]("fingerprint", wrong(7));
      expect(asked, name).toBeInstanceOf(Promise);
      asked.catch(() => {});
    }
  });
});

describe("an option that means nothing here", () => {
  it("of the start of an operation is refused, not ignored", async () => {
    await hf.enqueue("t", null, { queue: "mail" });
    const plan = await hf.operations.plan({ action: "cancel", filter: { queue: "mail" } });
    const calls = {
      attempts: () => plan.start({ attempts: 3 }),
      stopAtFailureRate: () => plan.start({ stopAtFailureRate: 0.5 }),
      delayMs: () => plan.start({ delayMs: 1_000 }),
    };
    await refusals(calls, /is for a retry.*: this operation is a cancel/);
  });

  it("in the words of other job systems is answered by its meaning, not by its spelling", async () => {
    const enqueue = (words: object) => () => hf.enqueue("t", null, wrong({ queue: "q", ...words }));
    const calls: Readonly<Record<string, readonly [string, () => unknown]>> = {
      connection: ['did you mean "store"?', () => new Holdfast(wrong({ connection: {} }))],
      jobId: ['did you mean "idempotencyKey"?', enqueue({ jobId: "a" })],
      tenantId: ['did you mean "group"?', enqueue({ tenantId: "a" })],
      retryLimit: ['did you mean "maxAttempts"?', enqueue({ retryLimit: 3 })],
      repeat: ["hf.schedule", enqueue({ repeat: {} })],
      data: ["its payload", enqueue({ data: {} })],
      removeOnComplete: ["retention", enqueue({ removeOnComplete: true })],
      lockDuration: ['did you mean "leaseMs"?', () => hf.work(wrong({ lockDuration: 5 }))],
    };
    for (const [name, [says, call]] of Object.entries(calls)) {
      expect(await refusal(call), name).toContain(says);
    }
  });

  it("is a contract in place of the job of a schedule: its payload is missing", async () => {
    const report = hf.define({ type: "report", run: () => {} });
    const schedule = () => hf.schedule("nightly", { everyMs: 1_000, job: wrong(report) });
    expect(await refusal(schedule)).toContain("report.of({ … })");
  });

  it("is a receipt that was not awaited: waitFor says so", async () => {
    const receipt = hf.enqueue("t", null, { queue: "mail" });
    expect(await refusal(() => hf.waitFor(wrong(receipt)))).toContain("await hf.enqueue");
    await receipt;
  });
});
