import { describe, expect, it } from "vitest";
import { CaseOf } from "./case-of.ts";

/** A worker ran a job and was killed; another took it and succeeded, so many milliseconds later. */
function killedAndRecovered(afterMs: number): CaseOf {
  const file = new CaseOf();
  file.worker("w1").worker("w2").enqueued("j1", "id1");
  file.leased(30_000, "w1", "id1", 10).started(30_001, "w1", "id1", 10, { key: "j1" });
  file.killed(31_000, "w1");
  return file.runAgain(31_000 + afterMs);
}

describe("counters", () => {
  it("a crash that is not counted is a finding", () => {
    const file = killedAndRecovered(11_000).changed("id1", { crashes: 0 });
    expect(file.rules()).toEqual(["counters wrong"]);
  });

  it("an attempt too many is a finding", () => {
    const file = killedAndRecovered(11_000).changed("id1", { attempts: 3 });
    expect(file.rules()).toEqual(["counters wrong"]);
  });

  it("more attempts than allowed are a finding", () => {
    const file = killedAndRecovered(11_000).changed("id1", { maxAttempts: 1 });
    expect(file.rules()).toEqual(["counters wrong"]);
  });

  it("a crash charged to a worker that was stopped before it heard of its lease is none", () => {
    const file = new CaseOf();
    file.worker("w1").worker("w2").enqueued("j1", "id1");
    file.stopped("w1", 150, 15_000).leased(15_001, "w1", "id1", 10, 100);
    file.runAgain(12_000);
    expect(file.rules()).toEqual([]);
  });

  it("a crash charged to a worker that stopped gracefully is a finding", () => {
    const file = new CaseOf();
    file.worker("w1").worker("w2").enqueued("j1", "id1");
    file.leased(100, "w1", "id1", 10).started(101, "w1", "id1", 10, { key: "j1" });
    file.terminated("w1", 200, 300);
    file.runAgain(12_000);
    expect(file.texts()).toContain(
      "counters wrong: j1 (id1) is charged a crash of w1, which did not crash",
    );
  });
});

describe("recovery", () => {
  it("is measured from the kill until the job is back in its line", () => {
    const { recovery, findings } = killedAndRecovered(15_000)
      .reaped(41_500, "w2", "id1", "w1")
      .verdict();
    expect(findings).toEqual([]);
    expect(recovery).toMatchObject({
      jobs: 1,
      leasable: { maxMs: 10_500 },
      leased: { maxMs: 15_000 },
    });
  });

  it("is measured to the next lease if nobody saw who put it back", () => {
    expect(killedAndRecovered(11_000).verdict().recovery.leasable.maxMs).toBe(11_000);
  });

  it("later than the bound is a finding", () => {
    expect(killedAndRecovered(12_500).rules()).toEqual(["recovered too late"]);
  });

  it("waits for a worker that has been there for a lease length", () => {
    const file = new CaseOf();
    file.worker("w1").worker("w2", { upAt: 38_000 }).enqueued("j1", "id1");
    file.leased(30_000, "w1", "id1", 10).killed(31_000, "w1");
    file.leased(49_000, "w2", "id1", 20);
    const { recovery } = file.verdict();
    expect(recovery).toMatchObject({ judgedMaxMs: 11_000, findings: [] });
    expect(recovery.delayed).toEqual({ jobs: 1, maxMs: 18_000 });
  });

  it("does not wait for a worker that is young when an older one is there", () => {
    const file = killedAndRecovered(18_000).worker("w3", { upAt: 38_000 });
    expect(file.rules()).toEqual(["recovered too late"]);
  });

  it("counts from the end of a stop that froze the store", () => {
    const file = killedAndRecovered(30_000).worker("w3");
    file.stopped("w3", 32_000, 50_000).unwritable(32_000, 50_010);
    expect(file.verdict().recovery.findings).toEqual([]);
    expect(killedAndRecovered(30_000).rules()).toEqual(["recovered too late"]);
  });
});

describe("processes", () => {
  it("one that ends by itself is a finding", () => {
    const file = new CaseOf().worker("w1").exited(500, "w1", 1);
    expect(file.texts()).toEqual(["processes at fault: w1 ended by itself with code 1"]);
  });

  it("one that cannot stop gracefully is a finding", () => {
    const file = new CaseOf().worker("w1").terminated("w1", 500, 900, 1);
    expect(file.rules()).toEqual(["processes at fault"]);
  });

  it("an error that the engine reports is a finding", () => {
    const file = new CaseOf().worker("w1").reported(5, "w1", "leasing failed");
    expect(file.texts()).toEqual(["processes at fault: w1 reported: leasing failed"]);
  });

  it("one that was asked to stop while nobody could write may say what it gave up", () => {
    const file = new CaseOf().worker("w1").worker("w2").unwritable(600, 20_000);
    file.terminated("w1", 500, 21_000).reported(11_000, "w1", "outcomes did not reach the store");
    expect(file.texts()).toEqual([]);
    file.reported(20_500, "w1", "leasing failed").reported(11_000, "w2", "leasing failed");
    expect(file.texts().toSorted()).toEqual([
      "processes at fault: w1 reported: leasing failed",
      "processes at fault: w2 reported: leasing failed",
    ]);
  });

  it("a store that is damaged is a finding", () => {
    expect(new CaseOf().rules({ damage: ["row 7 missing from index"] })).toEqual(["store damaged"]);
  });
});
