/** A tenant is erased: jobs, entries of the ledger, locks; and what is not a tenant's stays. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidNameError,
  InvalidOptionError,
  InvalidPayloadError,
  JobNotFoundError,
  PermanentError,
  type Holdfast,
  type OperationView,
  type RunningJob,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

const OPS = { by: "ops", reason: "the contract ended" };

describe.each(EVERY_STORE)("erasing on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  function tenants(options = {}) {
    const process = world.process(options);
    process.hf.define({
      type: "work",
      lock: { key: "work", scope: (p: { does: string }) => p.does },
      async run({ payload, signal }: RunningJob<{ does: string }>) {
        if (payload.does === "fail") throw new PermanentError("no");
        if (payload.does !== "wait") return;
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    });
    return process;
  }

  async function busy(hf: Holdfast): Promise<void> {
    for (const group of ["tenant-7", "tenant-8"]) {
      for (const does of ["fail", "go", "wait"]) await hf.enqueue("work", { does }, { group });
      await hf.enqueue("work", { does: "later" }, { group, delayMs: 3_600_000 });
    }
    await world.advance(1_000);
  }

  async function finished(
    operation: { readonly id: string },
    hf: Holdfast,
  ): Promise<OperationView> {
    for (let seconds = 0; seconds < 60; seconds += 1) {
      const view = await hf.operations.get(operation.id);
      if (view.state === "finished") return view;
      await world.advance(1_000);
    }
    throw new Error("it is not finished after a minute");
  }

  const left = async (hf: Holdfast, group: string) => ({
    jobs: (await hf.jobs({ group, limit: 100 })).jobs.length,
    failures: (await hf.failures.list({ group })).failures.length,
    locks: (await hf.locks.list({ owner: group })).locks.length,
  });

  it("all jobs, entries and locks of a group go, and nothing of another", async () => {
    const { hf } = tenants();
    await hf.work();
    await busy(hf);
    expect(await left(hf, "tenant-7")).toEqual({ jobs: 4, failures: 1, locks: 3 });
    const view = await finished(await hf.erase({ group: "tenant-7" }, OPS), hf);
    expect(view).toMatchObject({ action: "erase", done: 4, ...OPS });
    expect(view.erased?.entries).toBeGreaterThanOrEqual(1);
    expect(await left(hf, "tenant-7")).toEqual({ jobs: 0, failures: 0, locks: 0 });
    expect(await left(hf, "tenant-8")).toEqual({ jobs: 4, failures: 1, locks: 3 });
    const { entries } = await hf.ledger({ kind: "audit" });
    expect(entries[0]?.body).toMatchObject({
      ...{ action: "operation finished", ...OPS, details: { what: "erase", done: 4 } },
    });
  });

  it("an erasure goes on in another process when its own is killed", async () => {
    const first = tenants();
    await first.hf.work();
    await busy(first.hf);
    const operation = await first.hf.erase({ group: "tenant-7" }, OPS);
    first.kill();
    const { hf } = tenants();
    await hf.work();
    await finished(operation, hf);
    expect(await left(hf, "tenant-7")).toEqual({ jobs: 0, failures: 0, locks: 0 });
    expect((await left(hf, "tenant-8")).failures).toBe(1);
  });

  it("with a ledger elsewhere, entries and locks go there", async () => {
    const ledger = memoryStore({ now: () => world.time.now });
    await ledger.open();
    const { hf } = tenants({ ledger: { ...ledger, close: async () => {} } });
    await hf.work();
    await busy(hf);
    await world.advance(2_000);
    expect(await left(hf, "tenant-7")).toEqual({ jobs: 4, failures: 1, locks: 3 });
    await finished(await hf.erase({ group: "tenant-7" }), hf);
    expect(await left(hf, "tenant-7")).toEqual({ jobs: 0, failures: 0, locks: 0 });
    expect(await left(hf, "tenant-8")).toEqual({ jobs: 4, failures: 1, locks: 3 });
  });

  it("a target that is none is refused", async () => {
    const { hf } = world.process();
    await expect(hf.erase({ grup: "a" } as never)).rejects.toThrow(/did you mean "group"/);
    await expect(hf.erase({ group: "a b" })).rejects.toThrow(InvalidNameError);
    await expect(hf.erase("a" as never)).rejects.toThrow(InvalidOptionError);
  });

  it("a dead job is retried with an edited payload, but never with one that hides a secret", async () => {
    const { hf } = tenants();
    await hf.work();
    const { id } = await hf.enqueue("work", { does: "fail", apiKey: "k" });
    await world.advance(500);
    const [failure] = (await hf.failures.list({ jobId: id })).failures;
    const copied = { ...(failure?.payload as object), does: "go" };
    const retrying = hf.retry(id, { payload: copied, ...OPS });
    await expect(retrying).rejects.toThrow(InvalidPayloadError);
    await expect(hf.retry(id, { payload: copied })).rejects.toThrow(
      /payload\.apiKey is \[REDACTED\]/,
    );
    expect(await hf.job(id)).toMatchObject({ status: "dead" });
    expect(await hf.retry(id, { payload: { does: "go", apiKey: "k" }, ...OPS })).toBe("retried");
    await world.advance(500);
    expect(await hf.job(id)).toMatchObject({
      ...{ status: "succeeded", payload: { does: "go", apiKey: "k" } },
    });
    const { entries } = await hf.ledger({ kind: "audit", jobId: id });
    expect(entries[0]?.body).toMatchObject({
      ...{ action: "retry", ...OPS, details: { hasNewPayload: true } },
    });
  });

  it("a job that is gone while the ledger has its failures cannot be replayed, and that is said", async () => {
    const { hf } = tenants();
    await hf.work();
    const { id } = await hf.enqueue("work", { does: "fail" });
    await world.advance(500);
    await hf.remove(id);
    await expect(hf.retry(id)).rejects.toThrow(JobNotFoundError);
    await expect(hf.retry(id)).rejects.toThrow(/cannot be replayed, so enqueue the work anew/);
    const page = await hf.failures.list({ jobId: id, withJobs: true });
    expect(page.failures).toMatchObject([{ job: "gone" }]);
  });
});
