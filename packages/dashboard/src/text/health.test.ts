import { describe, expect, it } from "vitest";
import type { Overview, Stats } from "../api/types.ts";
import { healthSentence } from "./health.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");

const queue = (name: string, more: object = {}) => ({
  ...{ queue: name, ready: 0, delayed: 0, processing: 0, succeeded: 0, dead: 0, cancelled: 0 },
  ...{ retrying: 0, oldestReadyAt: null, holds: [], ...more },
});

function overview(more: object = {}): Overview {
  return {
    at: "2026-11-18T11:59:50Z",
    totals: {
      ...{ ready: 0, delayed: 0, processing: 3, succeeded: 0, dead: 0, cancelled: 0, retrying: 0 },
      oldestReadyAt: null,
    },
    ...{ queueCount: 1, queues: [queue("mail")], deadByCategory: {}, operations: [], actions: [] },
    workers: { count: 2, slots: 20, active: 3, quiet: 0 },
    ...{ store: { name: "sqlite", latencyMs: 1 }, gates: [], faults: [], held: false, ...more },
  } as unknown as Overview;
}

const say = (more: object = {}, about: { stats?: Stats; isStoreAway?: boolean } = {}) =>
  healthSentence({
    ...{ overview: overview(more), stats: about.stats ?? null, now: NOW },
    isStoreAway: about.isStoreAway ?? false,
  });

const open = {
  ...{ name: "hubspot", state: "open", failures: 9, queues: ["crm"], cooldownUntil: null },
  openUntil: "2026-11-18T12:02:00Z",
};

describe("the sentence about health", () => {
  it("is not calm about what it knew before the server went silent", () => {
    const facts = { overview: overview(), stats: null, isStoreAway: false, now: NOW };
    const said = healthSentence({ ...facts, isUnreachable: true });
    expect(said).toMatchObject({ tone: "bad", head: "The server does not answer." });
    expect(said.rest).toContain("10 s old");
  });

  it("is calm when nothing is amiss", () => {
    expect(say()).toMatchObject({ tone: "ok", head: "All is well.", link: null });
  });

  it("tells the worst first: the store before workers, workers before gates", () => {
    const worst = { gates: [open], workers: { count: 0, slots: 0, active: 0, quiet: 0 } };
    const waiting = { totals: { ...overview().totals, ready: 5 } };
    expect(say({ ...worst, ...waiting }, { isStoreAway: true }).head).toBe("The store is away.");
    expect(say({ ...worst, ...waiting }).head).toBe("No worker is alive.");
    expect(say({ gates: [open], ...waiting }).head).toBe("One dependency is down.");
  });

  it("says how old its numbers are while the store is away", () => {
    expect(say({}, { isStoreAway: true }).rest).toContain("10 s old");
  });

  it("counts whom an open gate holds back", () => {
    const queues = [queue("crm", { ready: 1204 }), queue("mail", { ready: 7 })];
    expect(say({ gates: [open], queues }).rest).toContain("1,204 jobs of crm wait, uncharged");
  });

  it("tells of jobs that die now, of queues that are late, of those that are held", () => {
    const stats = {
      series: [{ succeeded: 10, retried: 0, dead: 41, cancelled: 0 }],
      topFailing: [],
    } as unknown as Stats;
    expect(say({}, { stats }).head).toBe("Jobs are dying: 41 in five minutes.");
    const late = queue("crm", { ready: 1, oldestReadyAt: "2026-11-18T11:48:00Z" });
    expect(say({ queues: [late] }).head).toBe("Queue crm is behind.");
    const held = queue("reports", { ...late, queue: "reports", holds: ["month end"] });
    expect(say({ queues: [held] })).toMatchObject({ head: "One queue is held." });
  });
});
