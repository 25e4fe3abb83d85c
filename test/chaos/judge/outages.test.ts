import { describe, expect, it } from "vitest";
import { CaseOf } from "./case-of.ts";

/** One job, leased and started by w1. */
function oneRun(): CaseOf {
  const file = new CaseOf();
  file.worker("w1").worker("w2").enqueued("j1", "id1");
  return file.leased(100, "w1", "id1", 10).started(101, "w1", "id1", 10, { key: "j1" });
}

/** Both workers take something right after the heal, so that nothing is said of them. */
function bothTake(file: CaseOf, at: number): CaseOf {
  for (const [place, by] of ["w1", "w2"].entries()) {
    const [id, key, fence] = [`t${at}${by}`, `k${at}${by}`, at + place];
    file.enqueued(key, id).leased(at, by, id, fence).started(at, by, id, fence, { key });
    file.ended(at + 1, by, id, fence).settled(at + 2, by, id, fence, "succeed");
    file.stored(id, key, { result: { by, fence } });
  }
  return file;
}

describe("an outage of the store", () => {
  it("explains an extra run of what still ran when its lease was over", () => {
    const file = oneRun().outage(200, 15_000).ended(9_000, "w1", "id1", 10, "aborted");
    const { duplicated, findings } = bothTake(file.runAgain(26_000), 15_100).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained.outage).toBe(1);
  });

  it("is no reason to run again what had ended in time", () => {
    const file = oneRun().outage(200, 15_000).ended(3_000, "w1", "id1", 10);
    expect(bothTake(file.runAgain(26_000), 15_100).rules()).toEqual(["run twice by an outage"]);
  });

  it("is the reason, whatever happens to a worker that has let go", () => {
    const file = oneRun().outage(200, 15_000).ended(9_000, "w1", "id1", 10, "aborted");
    // A renewal that was on its way keeps the lease, and nobody runs the job.
    file.renewed(15_050, "w1", "id1", 10).killed(24_000, "w1");
    const { duplicated } = bothTake(file.runAgain(26_000), 15_100).verdict();
    expect(duplicated.explained).toMatchObject({ outage: 1, kill: 0 });
  });

  it("that is short explains nothing", () => {
    const file = oneRun().outage(200, 2_000).ended(9_000, "w1", "id1", 10, "aborted");
    const rules = bothTake(file.runAgain(26_000), 2_100).rules();
    expect(rules).toContain("duplicated, unexplained");
    expect(rules).toContain("counters wrong");
  });

  it("lets go of what it cannot renew before anybody else may begin", () => {
    const file = oneRun().outage(200, 15_000).ended(26_500, "w1", "id1", 10, "aborted");
    const rules = bothTake(file.runAgain(26_000), 15_100).rules();
    expect(rules).toEqual(["overlapping, unexplained"]);
  });

  it("forbids reaping for a lease length", () => {
    const file = oneRun().outage(200, 15_000).ended(9_000, "w1", "id1", 10, "aborted");
    bothTake(file.runAgain(26_000), 15_100);
    expect(file.reaped(25_500, "w2", "id1", "w1").rules()).toEqual([]);
    expect(file.reaped(24_000, "w2", "id1", "w1").rules()).toEqual(["reaped too soon"]);
  });

  it("of a slot that was moved forbids it from when that slot was whole", () => {
    const slots = [
      { from: 200, healingAt: 8_000 },
      { from: 8_000, healingAt: 9_000 },
    ];
    const file = oneRun().movedSlots(200, 15_000, slots).ended(9_000, "w1", "id1", 10, "aborted");
    bothTake(file.runAgain(26_000), 15_100);
    expect(file.reaped(18_100, "w2", "id1", "w1").rules()).not.toContain("reaped too soon");
    expect(file.reaped(17_900, "w2", "id1", "w1").rules()).toContain("reaped too soon");
  });

  it("stops the clock of a recovery", () => {
    const file = oneRun().killed(9_000, "w1").outage(9_500, 25_000);
    file.runAgain(36_000).leased(25_100, "w2", "other", 1);
    expect(file.verdict().recovery.findings).toEqual([]);
  });

  it("stops it until the store has answered a worker again, and no longer", () => {
    const late = (answeredAt: number, leasedAt: number): readonly string[] => {
      const file = oneRun().killed(9_000, "w1").outage(9_500, 25_000);
      file.answeredAgain("w2", 9_000, answeredAt).runAgain(leasedAt);
      return file.leased(answeredAt, "w2", "other", 1).rules();
    };
    expect(late(27_900, 39_500)).not.toContain("recovered too late");
    expect(late(25_100, 39_500)).toContain("recovered too late");
  });
});

describe("a handler that was aborted by its timeout", () => {
  it("has not let go: a kill before its outcome was stored explains the next run", () => {
    const file = oneRun().ended(350, "w1", "id1", 10, "aborted").killed(1_000, "w1");
    const { duplicated, findings } = file.runAgain(11_500).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained.kill).toBe(1);
  });
});

describe("a worker that was cut off alone", () => {
  it("may lose its jobs", () => {
    const file = oneRun().cutOff("w1", 200, 15_000).ended(9_000, "w1", "id1", 10, "aborted");
    const { duplicated, findings } = bothTake(file.runAgain(12_000), 15_100).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained["cut off"]).toBe(1);
  });

  it("may hear late that they are lost, and a write on its way may bring the lease back", () => {
    const file = oneRun().cutOff("w1", 200, 11_000).renewed(11_050, "w1", "id1", 10);
    file.ended(11_051, "w1", "id1", 10, "aborted");
    const { duplicated, findings } = bothTake(file.runAgain(24_000), 11_100).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained["cut off"]).toBe(1);
  });

  it("may not lose them by a cut that heals at once", () => {
    const file = oneRun().cutOff("w1", 200, 200, "cut").ended(9_000, "w1", "id1", 10, "aborted");
    expect(bothTake(file.runAgain(12_000), 300).rules()).toContain("duplicated, unexplained");
  });

  it("explains nothing of another worker", () => {
    const file = oneRun().cutOff("w2", 200, 11_000).ended(9_000, "w1", "id1", 10, "aborted");
    expect(bothTake(file.runAgain(12_000), 11_100).rules()).toContain("duplicated, unexplained");
  });

  it("may be charged for a lease of which it never heard", () => {
    const file = new CaseOf().worker("w1").worker("w2").enqueued("j1", "id1");
    file.cutOff("w1", 200, 300, "deaf");
    expect(bothTake(file.runAgain(12_000), 400).rules()).toEqual([]);
  });
});

describe("after a heal", () => {
  it("a worker that takes a job in time is measured", () => {
    const { healed } = bothTake(new CaseOf().worker("w1").worker("w2"), 1_500)
      .outage(1_000, 1_200)
      .verdict();
    expect(healed).toMatchObject({ heals: 1, took: { maxMs: 300 }, excused: 0, findings: [] });
  });

  it("a worker that is up but silent is a finding", () => {
    const file = bothTake(new CaseOf().worker("w1").worker("w2"), 7_000).outage(1_000, 1_200);
    expect(file.texts()).toEqual([
      "no job after a heal: w1 took a job only 5800 ms later after an outage (halted)",
      "no job after a heal: w2 took a job only 5800 ms later after an outage (halted)",
    ]);
  });

  it("a worker that is killed or stopped before its time is over is excused", () => {
    const file = new CaseOf().worker("w1").worker("w2").outage(1_000, 1_200);
    file.killed(2_000, "w1").stopped("w2", 3_000, 20_000);
    expect(file.verdict().healed).toMatchObject({ excused: 2, findings: [] });
  });

  it("a worker that stood still meanwhile is not measured", () => {
    const file = bothTake(new CaseOf().worker("w1").worker("w2"), 4_500).outage(1_000, 1_200);
    const { healed } = file.stopped("w1", 500, 4_400).verdict();
    expect(healed).toMatchObject({ took: { maxMs: 3_300 }, excused: 1, findings: [] });
  });

  it("a worker that runs what may kill it is excused", () => {
    const file = new CaseOf().worker("w1").enqueued("j1", "id1");
    file.leased(900, "w1", "id1", 30).started(901, "w1", "id1", 30, { key: "j1", type: "fragile" });
    file.ended(9_000, "w1", "id1", 30).settled(9_001, "w1", "id1", 30, "succeed");
    const crash = (fence: number) => ({ outcome: "crashed", fence, worker: "w1" }) as const;
    const history = [crash(10), crash(20), { outcome: "succeeded", fence: 30, worker: "w1" }];
    file.stored("id1", "j1", { history: history as never, attempts: 3, crashes: 2 });
    file.outage(1_000, 1_200);
    expect(file.verdict().healed).toMatchObject({ excused: 1, findings: [] });
  });
});

describe("an answer that was lost", () => {
  it("and is denied when the same is said again is a finding", () => {
    const file = oneRun().ended(150, "w1", "id1", 10);
    file.settled(151, "w1", "id1", 10, "succeed", "lost");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 } });
    expect(file.rules()).toEqual(["repeat denied"]);
  });

  it("does not make a settle of what was reaped right", () => {
    const settled = oneRun().killed(9_000, "w1").settled(200, "w1", "id1", 10, "retry");
    const file = settled.runAgain(20_000);
    expect(file.texts()).toContain(
      "stale accepted: j1 (id1): w1 settled it (retry) when it had been reaped",
    );
  });
});
