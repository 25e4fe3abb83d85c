import { describe, expect, it } from "vitest";
import { forget, giveBack, grant, NEW_BUDGET, seal, take, type Budget } from "./budget.ts";
import { Chance } from "./chance.ts";
import { NEW_CHUNK, note, noteDead, noteRun, spentOf, type Chunk } from "./chunk.ts";

const wanted = (mask: number) => ({ masks: [mask, 0, 0, 0], before: 1, after: 1 });
const noting = (index: number, mask: number, isPoor = false) => ({
  ...{ index, won: null, wanted: wanted(mask), isPoor },
});

describe("a chunk", () => {
  it("lets the first who notes a record decide", () => {
    const rich: Chunk = { ...NEW_CHUNK, granted: [9, 0, 0, 0] };
    const [after, first] = note(rich, noting(3, 0b11));
    const [again, second] = note(after, noting(3, 0b1));
    expect(first.entry?.made).toEqual([0b11, 0, 0, 0]);
    expect(second.entry).toEqual(first.entry);
    expect(again).toBe(after);
  });

  it("notes an activity once, and none that it does not know", () => {
    const rich: Chunk = { ...NEW_CHUNK, granted: [9, 0, 0, 0] };
    const [noted] = note(rich, noting(3, 0b10));
    const [ran, isNew] = noteRun(noted, { index: 3, type: 0, ordinal: 1 });
    expect(isNew).toBe(true);
    expect(noteRun(ran, { index: 3, type: 0, ordinal: 1 })).toEqual([ran, false]);
    expect(noteRun(ran, { index: 3, type: 0, ordinal: 0 })).toEqual([ran, false]);
  });

  it("frees what a dead record had reserved", () => {
    const [noted] = note({ ...NEW_CHUNK, granted: [2, 0, 0, 0] }, noting(3, 0b11));
    expect(spentOf(noteDead(noted, [3]))).toEqual([0, 0, 0, 0]);
  });
});

describe("a budget", () => {
  const ask = { chunk: "0/0", missing: [1, 0, 0, 0], limits: [9, 9, 9, 9] };

  it("grants anew to a chunk that the store has forgotten", () => {
    const before: Budget = {
      granted: [5, 0, 0, 0],
      out: { "0/0": { epoch: 3, may: [5, 0, 0, 0] } },
    };
    const [after, out] = grant(before, { ...ask, state: NEW_CHUNK });
    expect(out).toEqual({ epoch: 0, may: [1, 0, 0, 0] });
    expect(after.granted).toEqual([6, 0, 0, 0]);
    expect(take(NEW_CHUNK, out!).granted).toEqual([1, 0, 0, 0]);
  });

  it("forgets no chunk that has something unspent", () => {
    const [budget, out] = grant(NEW_BUDGET, { ...ask, state: NEW_CHUNK });
    const taken = take(NEW_CHUNK, out!);
    expect(forget(budget, "0/0", taken)).toBe(budget);
    const [spent] = note(taken, noting(0, 1));
    expect(forget(budget, "0/0", spent)).toEqual({ granted: [1, 0, 0, 0], out: {} });
  });
});

/**
 * Workers in steps, each of them frozen anywhere for any time: between reading and writing, between a grant and its
 * taking, between sealing and giving back. A write that lost its race is done again from its read on.
 */
function simulate(seed: string, limit: number) {
  const chance = new Chance(seed);
  const pick = (count: number) => Math.floor(chance.next() * count);
  let budget = { value: NEW_BUDGET, version: 0 };
  const chunks = Array.from({ length: 3 }, () => ({ value: NEW_CHUNK, version: 0 }));
  let most = 0;
  const spent = () => chunks.reduce((sum, { value }) => sum + spentOf(value)[0]!, 0);

  function* changeChunk<Answer>(at: number, change: (state: Chunk) => [Chunk, Answer]) {
    for (;;) {
      const { value, version } = chunks[at]!;
      yield;
      const [after, answer] = change(value);
      if (chunks[at]!.version !== version) continue;
      chunks[at] = { value: after, version: version + 1 };
      most = Math.max(most, spent());
      yield;
      return answer;
    }
  }
  function* changeBudget<Answer>(
    at: number,
    change: (all: Budget, state: Chunk) => [Budget, Answer],
  ) {
    for (;;) {
      const { value, version } = budget;
      yield;
      const { value: state } = chunks[at]!;
      yield;
      const [after, answer] = change(value, state);
      if (budget.version !== version) continue;
      budget = { value: after, version: version + 1 };
      yield;
      return answer;
    }
  }
  const back = (at: number) =>
    changeBudget(at, (all, state): [Budget, null] => [giveBack(all, `c${at}`, state), null]);
  function* worker(index: number): Generator<undefined, void> {
    const at = index % 3;
    for (let isPoor = false; ;) {
      const answer = yield* changeChunk(at, (state) =>
        note(state, noting(index, 1 + pick(7), isPoor)),
      );
      if (answer.entry) break;
      const out = yield* changeBudget(at, (all, state) =>
        grant(all, {
          ...{ chunk: `c${at}`, state, missing: answer.missing },
          limits: [limit, Infinity, Infinity, Infinity],
        }),
      );
      isPoor = out === null;
      if (out) yield* changeChunk(at, (state): [Chunk, null] => [take(state, out), null]);
    }
    if (pick(4) > 0) return;
    // Its job died: as in the book, what is out is made known first.
    yield* changeBudget(at, (all, state): [Budget, null] => {
      if (all.out[`c${at}`] || state.granted.every((count) => count === 0)) return [all, null];
      const out = { epoch: state.epoch, may: state.granted };
      return [{ ...all, out: { ...all.out, [`c${at}`]: out } }, null];
    });
    yield* changeChunk(at, (state): [Chunk, null] => [seal(noteDead(state, [index])), null]);
    yield* back(at);
  }

  const running = Array.from({ length: 60 }, (_, index) => worker(index));
  let killed = 0;
  while (running.length > 0) {
    const at = pick(Math.min(6, running.length));
    const isKilled = chance.next() < 0.01;
    if (isKilled) killed += 1;
    if (isKilled || running[at]!.next().done) running.splice(at, 1);
  }
  // What the watch does in the end.
  for (const [at, chunk] of chunks.entries()) {
    const name = `c${at}`;
    if (!budget.value.out[name] && chunk.value.granted.some((count) => count > 0)) {
      const out = { epoch: chunk.value.epoch, may: chunk.value.granted };
      budget.value = { ...budget.value, out: { ...budget.value.out, [name]: out } };
    }
    const taken = budget.value.out[name] ? take(chunk.value, budget.value.out[name]) : chunk.value;
    chunk.value = seal(taken);
    budget.value = giveBack(budget.value, name, chunk.value);
  }
  return { most, spent: spent(), granted: budget.value.granted[0]!, killed };
}

describe("a budget", () => {
  it("is never overdrawn, wherever workers are frozen or killed, and nothing of it gets lost", () => {
    let killed = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const limit = seed % 40;
      const end = simulate(`seed ${seed}`, limit);
      expect(end.most, `seed ${seed}`).toBeLessThanOrEqual(limit);
      expect(end.granted, `seed ${seed}`).toBe(end.spent);
      killed += end.killed;
    }
    expect(killed).toBeGreaterThan(50);
  });
});
