/** What the ledger says of failures, and what a person does about them. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError, PermanentError } from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

const COMPANY = "5f0c1c5e-7b1a-4c3e-9a55-0123456789ab";

describe.each(EVERY_STORE)("failures on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  function failing(options = {}) {
    const process = world.process(options);
    process.hf.define({
      type: "work",
      retry: { maxAttempts: 2, baseMs: 100, jitter: 0 },
      run(job) {
        if (job.payload === "hopeless") throw new PermanentError("never");
        throw Object.assign(new Error("refused with Bearer abc.def"), { code: "ECONNRESET" });
      },
    });
    return process.hf;
  }

  it("every failed attempt is on record by default, with its payload and no secret", async () => {
    const hf = failing({ redact: { keys: ["iban"] } });
    const payload = { companyId: COMPANY, apiKey: "k", to: [{ IBAN: "DE1", name: "ann" }] };
    const { id } = await hf.enqueue("work", payload, { group: "g" });
    await hf.work();
    await world.advance(1_000);
    const { failures, nextCursor } = await hf.failures.list({ type: "work" });
    expect(nextCursor).toBeNull();
    expect(failures).toMatchObject([
      { attempt: 2, maxAttempts: 2, final: true, reason: "failed", retryInMs: null },
      { attempt: 1, maxAttempts: 2, final: false, reason: null, retryInMs: 100 },
    ]);
    for (const failure of failures) {
      expect(failure).toMatchObject({
        ...{ jobId: id, type: "work", queue: "default", group: "g", company: COMPANY },
        ...{ category: "network", message: "refused with Bearer [REDACTED]" },
        ...{ resolvedAt: null, resolvedBy: null },
      });
      expect(failure.payload).toEqual({
        companyId: COMPANY,
        apiKey: "[REDACTED]",
        to: [{ IBAN: "[REDACTED]", name: "ann" }],
      });
      expect(failure.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(failure.stack).not.toContain("abc.def");
    }
    expect((await hf.job(id))?.payload).toEqual(payload);
  });

  it("a payload that is too long for the ledger leaves its head", async () => {
    const hf = failing();
    await hf.enqueue("work", { text: "x".repeat(40_000) });
    await hf.work();
    await world.advance(1_000);
    const { failures } = await hf.failures.list({ final: true });
    expect(failures[0]?.payload).toEqual({ truncated: expect.stringContaining("xxx") });
  });

  it("failures are found by each of their words", async () => {
    const hf = failing();
    const one = await hf.enqueue("work", "hopeless", { group: COMPANY });
    await hf.enqueue("work", 1);
    await hf.work();
    await world.advance(1_000);
    const found = async (query: object) => (await hf.failures.list(query)).failures.length;
    expect(await found({})).toBe(3);
    expect(await found({ final: true })).toBe(2);
    expect(await found({ final: false, category: "network" })).toBe(1);
    expect(await found({ jobId: one.id, group: COMPANY, company: COMPANY })).toBe(1);
    expect(await found({ queue: "other" })).toBe(0);
    const { failures } = await hf.failures.list({ jobId: one.id });
    expect(await found({ fingerprint: failures[0]?.fingerprint ?? "" })).toBe(1);
    expect(await found({ from: new Date(world.time.now + 1_000) })).toBe(0);
  });

  it("a person who retries a job has resolved its failures", async () => {
    const hf = failing();
    const { id } = await hf.enqueue("work", "hopeless");
    await hf.work();
    await world.advance(200);
    expect((await hf.failures.list({ resolved: true })).failures).toEqual([]);
    await hf.retry(id, { by: "ada", reason: "fixed", attempts: 1 });
    const { failures } = await hf.failures.list({ jobId: id, resolved: true });
    expect(failures).toMatchObject([{ resolvedBy: "ada", final: true }]);
    expect(failures[0]?.resolvedAt).toBeInstanceOf(Date);
    await world.advance(200);
    const open = (await hf.failures.list({ jobId: id, resolved: false })).failures;
    expect(open).toMatchObject([{ attempt: 2 }]);
  });

  it("old failures are removed, by a chore and when somebody asks", async () => {
    const hf = failing({ retention: { ledger: { failure: { maxAgeMs: 60_000 } } } });
    await hf.enqueue("work", "hopeless");
    const worker = await hf.work();
    await world.advance(200);
    await worker.stop();
    expect(await hf.failures.prune()).toBe(0);
    await world.advance(61_000);
    expect(await hf.failures.prune()).toBe(1);
    expect((await hf.failures.list()).failures).toEqual([]);
  });

  it("a redactor that throws hides everything, and is told of", async () => {
    const said: string[] = [];
    const logger = { ...SILENT, error: (message: string) => void said.push(message) };
    const value = () => {
      throw new Error("bug");
    };
    const hf = failing({ redact: { value }, logger });
    await hf.enqueue("work", "hopeless");
    await hf.work();
    await world.advance(200);
    const { failures } = await hf.failures.list();
    expect(failures[0]?.payload).toBe("[REDACTED]");
    expect(said.join()).toMatch(/redactor threw/);
  });

  it("a query that is none is refused with what would be one", async () => {
    const { hf } = world.process();
    await expect(hf.failures.list({ finals: true } as object)).rejects.toThrow(/final/);
    await expect(hf.failures.list({ limit: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.failures.list({ from: "yesterday" as never })).rejects.toThrow(/valid Date/);
    expect(() => world.process({ redact: { keys: "iban" as never } })).toThrow(/redact\.keys/);
  });
});

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
