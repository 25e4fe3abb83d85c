import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { inTier, onlyInFull } from "../runner/tier.ts";
import { connectionsBacking, memoryBacking, type MakeBacking } from "./backing.ts";
import { simulatorCli } from "./cli.ts";
import { PLANTED_BUGS } from "./planted/all-planted.ts";
import { catchPlanted } from "./planted/catch-planted.ts";
import { failureText } from "./report.ts";
import { runSimulation, type SimulationOptions, type SimulationReport } from "./run.ts";

const LONG = { timeout: 180_000 };
const DAILY_SEEDS = 20;
const FULL_SEEDS = 100;
const SEEDS_A_TEST = 20;
const DAILY_CONTROL_SEEDS = 6;
const STEPS = 6_000;

async function onSqlite(
  run: (makeBacking: MakeBacking) => Promise<SimulationReport>,
): Promise<SimulationReport> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-sim-"));
  const file = join(folder, "jobs.db");
  return run(
    connectionsBacking({
      name: "sqlite",
      connect: (options) => sqliteStore({ ...options, file, synchronous: "normal" }),
      cleanUp: () => rm(folder, { recursive: true, force: true }),
    }),
  );
}

async function expectClean(options: SimulationOptions, store: string): Promise<SimulationReport> {
  const report = await runSimulation(options);
  const { seed, steps } = options;
  const command = `npm run sim -- --seed ${seed} --steps ${steps} --store ${store}`;
  if (report.violation) expect.fail(failureText(report, command));
  return report;
}

describe("every promise is kept in every weather", () => {
  for (let first = 1; first <= FULL_SEEDS; first += SEEDS_A_TEST) {
    const last = first + SEEDS_A_TEST - 1;
    it(`on the memory store, seeds ${first} to ${last}`, LONG, async (context) => {
      if (last > DAILY_SEEDS) onlyInFull(context);
      for (let seed = first; seed <= last; seed += 1) {
        await expectClean({ seed, steps: STEPS }, "memory");
      }
    });
  }

  for (let first = 1; first <= 60; first += SEEDS_A_TEST) {
    const last = first + SEEDS_A_TEST - 1;
    const title = `with locks, operations, gates and a ledger, seeds ${first} to ${last}`;
    it(title, LONG, async (context) => {
      if (first > 1) onlyInFull(context);
      const until = inTier({ daily: DAILY_CONTROL_SEEDS, full: last });
      for (let seed = first; seed <= until; seed += 1) {
        await expectClean({ seed, steps: STEPS, isUnderControl: true }, "memory --control");
      }
    });
  }

  it("with locks, operations, gates and a ledger on SQLite", LONG, async () => {
    for (let seed = 1; seed <= inTier({ daily: 1, full: 8 }); seed += 1) {
      const options = { seed, steps: inTier({ daily: 2_000, full: 4_000 }), isUnderControl: true };
      await onSqlite((makeBacking) => expectClean({ ...options, makeBacking }, "sqlite --control"));
    }
  });

  it("on SQLite, with a connection for every process", LONG, async () => {
    for (let seed = 1; seed <= inTier({ daily: 3, full: 10 }); seed += 1) {
      const steps = 4_000;
      await onSqlite((makeBacking) => expectClean({ seed, steps, makeBacking }, "sqlite"));
    }
  });
});

describe("a seed is a history", () => {
  it("the same seed gives the same trace", LONG, async () => {
    const [first, second] = [
      await runSimulation({ seed: 4, steps: STEPS }),
      await runSimulation({ seed: 4, steps: STEPS }),
    ];
    expect(second).toEqual(first);
  });

  it("the same seed gives the same trace on SQLite", LONG, async () => {
    const run = () =>
      onSqlite((makeBacking) => runSimulation({ seed: 4, steps: 3_000, makeBacking }));
    const [first, second] = [await run(), await run()];
    expect(second).toEqual(first);
  });

  it("another seed gives another", LONG, async () => {
    const { hash } = await runSimulation({ seed: 5, steps: 1_000 });
    expect((await runSimulation({ seed: 6, steps: 1_000 })).hash).not.toBe(hash);
  });

  it(
    "the same seed gives the same trace under control, and all of control happens in it",
    LONG,
    async (context) => {
      onlyInFull(context);
      const counts = new Map<string, number>();
      for (let seed = 11; seed <= 30; seed += 1) {
        const report = await runSimulation({ seed, steps: STEPS, isUnderControl: true });
        for (const [what, count] of report.counts)
          counts.set(what, (counts.get(what) ?? 0) + count);
        if (seed > 11) continue;
        const again = await runSimulation({ seed, steps: STEPS, isUnderControl: true });
        expect(again).toEqual(report);
      }
      for (const what of [
        ...["retry", "cancel", "remove", "reschedule", "pause", "resume", "abort"].map(
          (action) => `operations: ${action}`,
        ),
        ...["jobs skipped by their lock", "jobs that ran without their lock"],
        ...["breaker: open", "breaker: half-open"],
      ]) {
        expect(counts.get(what) ?? 0, what).toBeGreaterThan(0);
      }
    },
  );

  it("all kinds of faults and outcomes happen in it", LONG, async () => {
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= 20; seed += 1) {
      const report = await runSimulation({ seed, steps: STEPS });
      for (const [what, count] of report.counts) counts.set(what, (counts.get(what) ?? 0) + count);
    }
    for (const what of [
      "crashes",
      "kills by a job",
      "freezes",
      "stops",
      "partitions",
      "outages",
      "outages longer than a lease",
      "store clock set back",
      "calls: reply lost",
      "calls: request lost",
      "calls: refused",
      "calls: arrives late",
      "leases reaped",
      "leases reaped uncharged",
      "leases disowned",
      "lease replies lost in a row",
      "lease replies lost in part",
      "handlers that outlasted a long outage",
      "transactions committed",
      "transactions rolled back",
      "leases of exhausted jobs",
      "settles repeated",
      "stale settles refused",
      "outcomes: crashed",
      "outcomes: poison",
      "outcomes: release",
      "outcomes: snooze",
      "jobs spawned",
      "jobs pruned",
      "inserts: conflict",
      "inserts: duplicate",
      "inserts: full",
      "operator: cancel asked",
      "operator: revive done",
    ]) {
      expect(counts.get(what) ?? 0, what).toBeGreaterThan(0);
    }
  });
});

describe("planted bugs are caught", () => {
  it("there are at least twelve, each with its own name", () => {
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(12);
  });

  /** `npm run sim:planted` has all of them, too. */
  const asked = PLANTED_BUGS.filter((_bug, at) => inTier({ daily: at % 5 === 0, full: true }));
  for (const bug of asked) {
    it(`${bug.name}: ${bug.what}`, LONG, async () => {
      const report = await catchPlanted(bug);
      expect(report?.violation ?? "it got away").toMatchObject({ invariant: expect.any(String) });
    });
  }
});

describe("the command line", () => {
  const bug = PLANTED_BUGS.find(({ name }) => name === "lease-to-two")!;
  const stores = { broken: () => memoryBacking(bug.makeStore) };

  it("says how to see a broken promise again, and exits with 1", LONG, async () => {
    const said: string[] = [];
    const args = ["--store", "broken", "--seed", "1", "--steps", "2000"];
    const code = await simulatorCli(args, { stores, say: (text) => said.push(text) });
    expect(code).toBe(1);
    expect(said.join("\n")).toContain("A promise was broken: one holder at a time");
    expect(said.join("\n")).toContain("npm run sim -- --seed 1 --steps 2000 --store broken");
  });

  it("refuses what it does not know", async () => {
    const say = () => {};
    await expect(simulatorCli(["--store", "paper"], { stores, say })).rejects.toThrow(/--store/);
    await expect(simulatorCli(["--seed", "x"], { stores, say })).rejects.toThrow(/whole number/);
    await expect(simulatorCli(["--bug", "none"], { stores, say })).rejects.toThrow(
      /no planted bug/,
    );
  });
});
