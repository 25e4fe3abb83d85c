import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { interleave, planTurns, type TurnTaker } from "./turns.ts";

interface Numbered extends TurnTaker {
  readonly number: number;
}

function line(number: number, more: Partial<TurnTaker> = {}): Numbered {
  return { number, weight: null, room: Infinity, isCapped: false, ...more };
}

const keyOf = ({ number }: Numbered): number => number;
const START = { line: 0, left: 0 };

function plan(ring: Numbered[], jobs: number, turn = START, ofCapped = jobs) {
  const { quotas, turn: next } = planTurns(ring, { jobs, ofCapped }, { current: turn, keyOf });
  return { quotas: quotas.map((quota) => [quota.line.number, quota.jobs]), next };
}

describe("turns between lines", () => {
  it("give a line alone everything, and move nobody's turn", () => {
    assert.deepEqual(plan([line(1)], 10), { quotas: [[1, 10]], next: START });
  });

  it("go round until all is handed out", () => {
    const { quotas, next } = plan([line(1), line(2), line(3)], 7);
    assert.deepEqual(quotas, [
      [1, 3],
      [2, 2],
      [3, 2],
    ]);
    assert.deepEqual(next, { line: 1, left: 0 });
  });

  it("are as long as the weight", () => {
    const { quotas } = plan([line(1, { weight: 3 }), line(2)], 8);
    assert.deepEqual(quotas, [
      [1, 6],
      [2, 2],
    ]);
  });

  it("that were not used up go on with the next call", () => {
    const heavy = line(1, { weight: 3 });
    let turn = START;
    const taken: number[] = [];
    for (let call = 0; call < 8; call++) {
      // The ring begins with the line whose turn it is.
      const isHeavys = turn.left > 0 || turn.line !== 1;
      const ring = isHeavys ? [heavy, line(2)] : [line(2), heavy];
      const { quotas, next } = plan(ring, 1, turn);
      taken.push(...quotas.map(([number]) => number ?? 0));
      turn = next;
    }
    assert.deepEqual(taken, [1, 1, 1, 2, 1, 1, 1, 2]);
  });

  it("are several at once for each line where the store says so", () => {
    const lines = [line(1), line(2, { weight: 2 }), line(3)];
    const how = { current: START, turnsAtOnce: 4, keyOf };
    const { quotas, turn } = planTurns(lines, { jobs: 14, ofCapped: 14 }, how);
    assert.deepEqual(
      quotas.map((quota) => [quota.line.number, quota.jobs]),
      [
        [1, 4],
        [2, 8],
        [3, 2],
      ],
    );
    assert.deepEqual(turn, { line: 3, left: 2 });
  });

  it("end early for a line without room", () => {
    const { quotas } = plan([line(1, { room: 1, isCapped: true }), line(2)], 6);
    assert.deepEqual(quotas, [
      [1, 1],
      [2, 5],
    ]);
  });

  it("give capped lines no more than their bound together", () => {
    const capped = [line(1, { isCapped: true }), line(2, { isCapped: true }), line(3)];
    assert.deepEqual(plan(capped, 9, START, 3).quotas, [
      [1, 2],
      [2, 1],
      [3, 6],
    ]);
    assert.deepEqual(plan([line(1, { isCapped: true })], 9, START, 0).quotas, []);
  });

  it("come to an end when nobody has room", () => {
    assert.deepEqual(plan([line(1, { room: 0 }), line(2, { room: 0 })], 5).quotas, []);
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
