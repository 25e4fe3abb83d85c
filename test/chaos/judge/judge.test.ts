import { describe, expect, it } from "vitest";
import { CaseOf } from "./case-of.ts";

/** The story of most tests: one job, enqueued, leased and started by one worker. */
function oneRun(): CaseOf {
  const file = new CaseOf();
  file.worker("w1").worker("w2");
  file.enqueued("j1", "id1");
  file.leased(100, "w1", "id1", 10).started(101, "w1", "id1", 10, { key: "j1" });
  return file;
}

describe("the judge", () => {
  it("finds nothing wrong with a job that ran once", () => {
    const file = oneRun();
    file.ended(150, "w1", "id1", 10).settled(151, "w1", "id1", 10, "succeed");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 } });
    const verdict = file.verdict();
    expect(verdict.findings).toEqual([]);
    expect(verdict.enqueued).toMatchObject({ acknowledged: 1, succeeded: 1, recovered: 0 });
  });

  it("says that nothing is wrong with an empty run", () => {
    expect(new CaseOf().verdict().findings).toEqual([]);
  });
});

describe("what was enqueued", () => {
  it("an acknowledged job that is not there is lost", () => {
    const file = new CaseOf().enqueued("j1", "id1");
    expect(file.rules()).toEqual(["lost"]);
  });

  it("an acknowledged job that never finished is lost", () => {
    const file = new CaseOf().enqueued("j1", "id1");
    file.stored("id1", "j1", { status: "queued", attempts: 0 });
    expect(file.texts()).toEqual(["lost: j1 (id1) is still queued"]);
  });

  it("a success that no handler returned is lost work", () => {
    const file = new CaseOf().enqueued("j1", "id1");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 } });
    expect(file.rules()).toEqual(["lost"]);
  });

  it("a handler that settled in its own transaction may be killed before it returns", () => {
    const file = oneRun().settling(150, "w1", "id1", 10, "succeed").killed(151, "w1");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 } });
    expect(file.texts()).toEqual([]);
  });

  it("a handler whose own transaction did not commit may fail and run again", () => {
    const file = oneRun().settling(150, "w1", "id1", 10, "succeed");
    file.ended(160, "w1", "id1", 10, "threw").settled(161, "w1", "id1", 10, "retry");
    file.leased(200, "w1", "id1", 20).started(201, "w1", "id1", 20, { key: "j1" });
    file.ended(250, "w1", "id1", 20).settled(251, "w1", "id1", 20, "succeed");
    const failed = { outcome: "failed", fence: 10, worker: "w1" } as const;
    const history = [failed, { outcome: "succeeded", fence: 20, worker: "w1" } as const];
    file.stored("id1", "j1", { result: { by: "w1", fence: 20 }, attempts: 2, history });
    expect(file.texts()).toEqual([]);
  });

  it("a job that must succeed and is dead is lost", () => {
    const file = new CaseOf().enqueued("j1", "id1");
    file.stored("id1", "j1", { status: "dead", reason: "poison", crashes: 3, history: [] });
    expect(file.rules()).toContain("lost");
  });

  it("a job that was tried without an answer and is there is recovered", () => {
    const file = oneRun();
    file.tried("j2").stored("id2", "j2", { result: { by: "w2", fence: 11 } });
    file.leased(100, "w2", "id2", 11).started(101, "w2", "id2", 11, { key: "j2" });
    file.ended(102, "w2", "id2", 11).settled(103, "w2", "id2", 11, "succeed");
    file.ended(150, "w1", "id1", 10).settled(151, "w1", "id1", 10, "succeed");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 } });
    const { enqueued, findings } = file.verdict();
    expect(findings).toEqual([]);
    expect(enqueued.recovered).toBe(1);
  });

  it("a job that was tried without an answer and is not there is absent, not lost", () => {
    const { enqueued, findings } = new CaseOf().tried("j1").verdict();
    expect(findings).toEqual([]);
    expect(enqueued.absent).toBe(1);
  });

  it("a job that nobody tried to enqueue is unexpected", () => {
    const file = new CaseOf().stored("id1", "j1", { status: "dead", type: "doomed" });
    expect(file.rules()).toContain("unexpected");
  });

  it("one try that made two jobs is unexpected", () => {
    const file = new CaseOf().enqueued("j1", "id1");
    for (const id of ["id1", "id2"]) {
      file.stored(id, "j1", { status: "dead", type: "doomed", reason: "permanent" });
    }
    expect(file.rules()).toContain("unexpected");
  });

  it("a job whose producer was told that it surely is not there is unexpected", () => {
    const file = new CaseOf().tried("j1").refused("j1", { mayHaveHappened: false });
    file.stored("id1", "j1", { status: "dead", type: "doomed", reason: "permanent", attempts: 0 });
    expect(file.rules()).toEqual(["unexpected"]);
  });

  it("a job that an earlier unanswered try may have stored is not unexpected", () => {
    const file = new CaseOf().tried("j1").tried("j1").refused("j1", { mayHaveHappened: false });
    file.stored("id1", "j1", { status: "dead", type: "doomed", reason: "permanent", attempts: 0 });
    expect(file.rules()).toEqual([]);
  });

  it("a job that ran and that the store does not know is unexpected", () => {
    const file = new CaseOf().worker("w1").started(5, "w1", "id1", 10, { key: "j1" });
    expect(file.rules()).toContain("unexpected");
  });

  it("spawned jobs of an attempt that did not succeed are unexpected, missing ones are lost", () => {
    const file = new CaseOf().worker("w1").enqueued("j1", "id1");
    file.leased(100, "w1", "id1", 10).started(101, "w1", "id1", 10, { key: "j1" });
    file.ended(102, "w1", "id1", 10).settled(103, "w1", "id1", 10, "succeed");
    file.stored("id1", "j1", { type: "spawning", result: { by: "w1", fence: 10 } });
    const spawned = { status: "dead", type: "doomed", reason: "permanent", attempts: 0 } as const;
    file.stored("c0", "j1/10/0", spawned).stored("c1", "j1/9/1", spawned);
    expect(file.texts()).toEqual(
      [
        "unexpected: j1/9/1 (c1) was spawned by an attempt that did not succeed",
        "lost: j1/10/1 should have been stored with the success of its parent",
      ].sort(),
    );
  });
});

describe("jobs that ran more than once", () => {
  it("an extra run after a kill is explained", () => {
    const { duplicated, findings } = oneRun().killed(9_000, "w1").runAgain(20_000).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained.kill).toBe(1);
  });

  it("an extra run after a stop is explained, also while the stopped one goes on", () => {
    const file = oneRun().stopped("w1", 200, 25_000).runAgain(20_000);
    file.ended(25_010, "w1", "id1", 10, "aborted");
    const { duplicated, findings } = file.verdict();
    expect(findings).toEqual([]);
    expect(duplicated).toMatchObject({ overlapping: 1, explained: { stop: 1 } });
  });

  it("an extra run after a failed attempt is explained", () => {
    const file = oneRun()
      .ended(150, "w1", "id1", 10, "threw")
      .settled(151, "w1", "id1", 10, "retry");
    file.leased(300, "w2", "id1", 20).started(301, "w2", "id1", 20, { key: "j1" });
    file.ended(350, "w2", "id1", 20).settled(351, "w2", "id1", 20, "succeed");
    const history = [
      { outcome: "failed", fence: 10, worker: "w1" } as const,
      { outcome: "succeeded", fence: 20, worker: "w2" } as const,
    ];
    file.stored("id1", "j1", { result: { by: "w2", fence: 20 }, attempts: 2, history });
    const { duplicated, findings } = file.verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained.failed).toBe(1);
  });

  it("an extra run without a kill, a stop or a failure is a finding", () => {
    expect(oneRun().runAgain(20_000).rules()).toContain("duplicated, unexplained");
  });

  it("a kill before the run began explains nothing", () => {
    expect(oneRun().killed(50, "w1").runAgain(20_000).rules()).toContain("duplicated, unexplained");
  });

  it("a kill may reach a worker a moment after it was written down", () => {
    const file = new CaseOf().worker("w1").worker("w2").enqueued("j1", "id1");
    file.killed(100, "w1").leased(100.4, "w1", "id1", 10);
    file.started(100.6, "w1", "id1", 10, { key: "j1" });
    expect(file.runAgain(11_000).verdict().duplicated.explained.kill).toBe(1);
  });

  it("a store that was frozen while a worker waited for its lease explains what that lost", () => {
    const file = new CaseOf().worker("w1").worker("w2").worker("w3").enqueued("j1", "id1");
    file.stopped("w3", 200, 7_500).unwritable(300, 7_500);
    file.leased(8_000, "w1", "id1", 10, 250);
    file.started(8_001, "w1", "id1", 10, { key: "j1" });
    file.ended(9_300, "w1", "id1", 10, "aborted").runAgain(19_000);
    const { duplicated } = file.verdict();
    expect(duplicated.explained["store frozen by a stop"]).toBe(1);
  });

  it("a stop of another worker explains nothing", () => {
    const file = oneRun().worker("w3").stopped("w3", 200, 25_000).runAgain(20_000);
    expect(file.rules()).toContain("duplicated, unexplained");
  });

  it("a store that a stop has frozen explains an extra run of any worker", () => {
    const file = oneRun().worker("w3").stopped("w3", 200, 15_000).unwritable(200, 15_010);
    const { duplicated, findings } = file.runAgain(30_000).verdict();
    expect(findings).toEqual([]);
    expect(duplicated.explained["store frozen by a stop"]).toBe(1);
  });

  it("a stall explains an extra run only where stalls are forgiven", () => {
    const file = () => oneRun().stalled("w1", 200, 9_000).runAgain(20_000);
    expect(file().rules()).toContain("duplicated, unexplained");
    expect(file().rules({ forgiveStalls: true })).toEqual([]);
  });

  it("a run that begins while another goes on is a finding unless that one stood still", () => {
    const file = oneRun().settled(151, "w1", "id1", 10, "release");
    file.runAgain(200).ended(9_000, "w1", "id1", 10, "aborted");
    expect(file.rules()).toContain("overlapping, unexplained");
  });
});

describe("stale workers", () => {
  function overtaken(): CaseOf {
    const file = oneRun().stopped("w1", 200, 25_000);
    file.leased(20_000, "w2", "id1", 20).started(20_001, "w2", "id1", 20, { key: "j1" });
    file.ended(20_050, "w2", "id1", 20);
    return file;
  }
  const crashedOnce = {
    attempts: 2,
    crashes: 1,
    history: [
      { outcome: "crashed", fence: 10, worker: "w1" } as const,
      { outcome: "succeeded", fence: 20, worker: "w2" } as const,
    ],
  };

  it("a late settle that was refused is no finding", () => {
    const file = overtaken().settled(20_051, "w2", "id1", 20, "succeed");
    file.ended(25_010, "w1", "id1", 10).settled(25_011, "w1", "id1", 10, "succeed", "lost");
    file.stored("id1", "j1", { result: { by: "w2", fence: 20 }, ...crashedOnce });
    const { stale, findings } = file.verdict();
    expect(findings).toEqual([]);
    expect(stale.refused).toBe(1);
  });

  it("two accepted ends of one job are a finding", () => {
    const file = overtaken().settled(20_051, "w2", "id1", 20, "succeed");
    file.ended(25_010, "w1", "id1", 10).settled(25_011, "w1", "id1", 10, "succeed");
    file.stored("id1", "j1", { result: { by: "w2", fence: 20 }, ...crashedOnce });
    expect(file.texts()).toContain(
      "stale accepted: j1 (id1) was ended more than once: by w1 under 10 and w2 under 20",
    );
  });

  it("a stored result of a worker that was overtaken is a finding", () => {
    const file = overtaken().settled(20_051, "w2", "id1", 20, "succeed", "lost");
    file.ended(25_010, "w1", "id1", 10).settled(25_011, "w1", "id1", 10, "succeed");
    file.stored("id1", "j1", { result: { by: "w1", fence: 10 }, ...crashedOnce });
    expect(file.texts()).toContain(
      "stale accepted: j1 (id1) keeps the result of w1, but w2 had it later",
    );
  });

  it("a renewal that was kept after somebody else had the job is a finding", () => {
    const file = overtaken().settled(20_051, "w2", "id1", 20, "succeed");
    file.renewed(25_001, "w1", "id1", 10);
    file.stored("id1", "j1", { result: { by: "w2", fence: 20 }, ...crashedOnce });
    expect(file.rules()).toContain("stale accepted");
  });

  it("a job that is leased before the lease before has ended has two holders", () => {
    const file = oneRun().renewed(6_000, "w1", "id1", 10).killed(7_000, "w1");
    file.leased(15_000, "w2", "id1", 20).started(15_001, "w2", "id1", 20, { key: "j1" });
    file.ended(15_050, "w2", "id1", 20).settled(15_051, "w2", "id1", 20, "succeed");
    file.stored("id1", "j1", { result: { by: "w2", fence: 20 }, ...crashedOnce });
    expect(file.texts()).toEqual([
      "two holders: j1 (id1): w2 had it 999 ms before the lease of w1 ended",
    ]);
  });

  describe("a settle that was done, its answer lost, and asked for again after a later one", () => {
    function repeated(w1: {
      readonly outcome: "snoozed" | "crashed";
      readonly at: number;
    }): CaseOf {
      const file = oneRun().ended(150, "w1", "id1", 10).settling(151, "w1", "id1", 10, "snooze");
      file.leased(1_000, "w2", "id1", 20).started(1_001, "w2", "id1", 20, { key: "j1" });
      file.ended(1_050, "w2", "id1", 20).settled(1_051, "w2", "id1", 20, "succeed");
      file.settled(w1.at, "w1", "id1", 10, "snooze", "lost");
      const crashed = { outcome: "crashed", fence: 10, worker: "w1" } as const;
      const history = [
        ...(w1.outcome === "crashed" ? [crashed] : []),
        { outcome: "succeeded", fence: 20, worker: "w2" } as const,
      ];
      const crashes = w1.outcome === "crashed" ? 1 : 0;
      const result = { by: "w2", fence: 20 };
      return file.stored("id1", "j1", { result, attempts: history.length, crashes, history });
    }

    it("is answered lost, and made way for the next holder", () => {
      const rules = repeated({ outcome: "snoozed", at: 4_000 }).rules();
      expect(rules).not.toContain("two holders");
      expect(rules).not.toContain("duplicated, unexplained");
    });

    it("does not excuse what was reaped", () => {
      const rules = repeated({ outcome: "crashed", at: 4_000 }).rules();
      expect(rules).toContain("two holders");
      expect(rules).toContain("duplicated, unexplained");
    });

    it("does not excuse a store that denies it before anybody else has settled", () => {
      expect(repeated({ outcome: "snoozed", at: 1_040 }).rules()).toContain("two holders");
    });
  });
});

describe("a job that a killed worker had in an open transaction", () => {
  it("runs again because of the kill, also if its lease had ended by then", () => {
    const file = () => oneRun().killed(15_000, "w1").runAgain(30_000);
    expect(file().rules({ transactionMs })).toContain("duplicated, unexplained");
    expect(file().within(110, "w1", "id1", 10).rules({ transactionMs })).toEqual([]);
  });

  function recovered(at: number): CaseOf {
    return oneRun()
      .killed(9_000, "w1")
      .reaped(at, "w2", "id1", "w1")
      .runAgain(at + 1);
  }
  const transactionMs = 30_000;

  it("may be out of reach until the server ends the transaction, and no longer", () => {
    const late = "recovered too late";
    expect(recovered(40_000).rules({ transactionMs })).toContain(late);
    expect(recovered(40_000).within(110, "w1", "id1", 10).rules({ transactionMs })).toEqual([]);
    expect(recovered(40_000).within(110, "w1", "id1", 10).rules()).toContain(late);
    // The server is silent when it ends.
    const silent = recovered(56_000).within(110, "w1", "id1", 10).outage(30_000, 45_000, "silent");
    expect(silent.rules({ transactionMs })).not.toContain(late);
    expect(recovered(52_000).within(110, "w1", "id1", 10).rules({ transactionMs })).toEqual([late]);
  });
});

describe("steps and saves", () => {
  function twoRuns(row: number): CaseOf {
    const file = oneRun().killed(9_000, "w1");
    file.leased(20_000, "w2", "id1", 20).started(20_001, "w2", "id1", 20, { key: "j1", row });
    file.ended(20_050, "w2", "id1", 20).settled(20_051, "w2", "id1", 20, "succeed");
    const history = [
      { outcome: "crashed", fence: 10, worker: "w1" } as const,
      { outcome: "succeeded", fence: 20, worker: "w2" } as const,
    ];
    const result = { by: "w2", fence: 20 };
    return file.stored("id1", "j1", { result, attempts: 2, crashes: 1, history });
  }

  it("a step that was stored and runs again is a finding", () => {
    const file = twoRuns(0).stepRan(110, "w1", 10).stepStored(120, "w1", 10, 10);
    expect(file.rules()).toEqual([]);
    file.stepRan(20_010, "w2", 20);
    expect(file.rules()).toEqual(["steps and saves forgotten"]);
  });

  it("a step that was not stored may run again", () => {
    const file = twoRuns(0).stepRan(110, "w1", 10).stepRan(20_010, "w2", 20);
    expect(file.stepStored(20_020, "w2", 20, 20).rules()).toEqual([]);
  });

  it("a step whose value changes is a finding", () => {
    const file = twoRuns(0).stepStored(120, "w1", 10, 10).stepStored(20_010, "w2", 20, 20);
    expect(file.rules()).toEqual(["steps and saves forgotten"]);
  });

  it("an attempt that begins before what was saved is a finding", () => {
    expect(twoRuns(2).saved(120, "w1", 10, 2).rules()).toEqual([]);
    expect(twoRuns(1).saved(120, "w1", 10, 2).rules()).toEqual(["steps and saves forgotten"]);
  });
});
