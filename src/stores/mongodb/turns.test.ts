import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { interleave, planTurns, type Turn, type TurnTaker } from "./turns.ts";

function line(group: string, more: Partial<TurnTaker> = {}): TurnTaker {
  return { group, weight: null, room: Infinity, isCapped: false, ...more };
}

const START: Turn = { group: null, left: 0 };

function plan(ring: TurnTaker[], jobs: number, turn = START, ofCapped = jobs) {
  const { quotas, turn: next } = planTurns(ring, { jobs, ofCapped }, turn);
  return { quotas: quotas.map((quota) => [quota.line.group, quota.jobs]), next };
}

describe("turns between lines", () => {
  it("give a line alone everything, and move nobody's turn", () => {
    assert.deepEqual(plan([line("a")], 10), { quotas: [["a", 10]], next: START });
  });

  it("go round until all is handed out", () => {
    const { quotas, next } = plan([line("a"), line("b"), line("c")], 7);
    assert.deepEqual(quotas, [
      ["a", 3],
      ["b", 2],
      ["c", 2],
    ]);
    assert.deepEqual(next, { group: "a", left: 0 });
  });

  it("are as long as the weight", () => {
    const { quotas } = plan([line("a", { weight: 3 }), line("b")], 8);
    assert.deepEqual(quotas, [
      ["a", 6],
      ["b", 2],
    ]);
  });

  it("that were not used up go on with the next call", () => {
    const heavy = line("a", { weight: 3 });
    let turn = START;
    const taken: unknown[] = [];
    for (let call = 0; call < 8; call++) {
      // The ring begins with the line whose turn it is.
      const isHeavys = turn.left > 0 || turn.group !== "a";
      const ring = isHeavys ? [heavy, line("b")] : [line("b"), heavy];
      const { quotas, next } = plan(ring, 1, turn);
      taken.push(...quotas.map(([group]) => group));
      turn = next;
    }
    assert.deepEqual(taken, ["a", "a", "a", "b", "a", "a", "a", "b"]);
  });

  it("end early for a line without room", () => {
    const { quotas } = plan([line("a", { room: 1, isCapped: true }), line("b")], 6);
    assert.deepEqual(quotas, [
      ["a", 1],
      ["b", 5],
    ]);
  });

  it("give capped lines no more than their bound together", () => {
    const capped = [line("a", { isCapped: true }), line("b", { isCapped: true }), line("c")];
    assert.deepEqual(plan(capped, 9, START, 3).quotas, [
      ["a", 2],
      ["b", 1],
      ["c", 6],
    ]);
    assert.deepEqual(plan([line("a", { isCapped: true })], 9, START, 0).quotas, []);
  });

  it("come to an end when nobody has room", () => {
    assert.deepEqual(plan([line("a", { room: 0 }), line("b", { room: 0 })], 5).quotas, []);
  });
});

describe("packs of several lines", () => {
  it("are handed out in the order of the turns", () => {
    const packs = [
      { items: ["a1", "a2", "a3"], line: { weight: null } },
      { items: ["b1", "b2", "b3"], line: { weight: 2 } },
      { items: [], line: { weight: null } },
    ];
    assert.deepEqual(interleave(packs), ["a1", "b1", "b2", "a2", "b3", "a3"]);
    assert.deepEqual(interleave([]), []);
  });
});
