import { describe, expect, it } from "vitest";
import { seededRandom } from "../testing/seeded-random.ts";
import {
  addFailures,
  CLOSED,
  endProbe,
  expire,
  failuresInWindow,
  freeProbes,
  grantProbes,
  type BreakerState,
} from "./breaker.ts";

const RULE = { failures: 3, withinMs: 1_000, openMs: 500, probes: 2 };
const probe = (id: string, until: number, isCall = false) => ({ id, until, isCall });

describe("a breaker", () => {
  it("opens after enough failures within its window, and not for older ones", () => {
    let state = addFailures(CLOSED, RULE, 2, 0);
    expect(failuresInWindow(state, RULE, 999)).toBe(2);
    state = addFailures(state, RULE, 2, 1_000);
    expect(state.state).toBe("closed");
    state = addFailures(state, RULE, 1, 1_100);
    expect(state).toEqual({ state: "open", until: 1_600 });
    expect(addFailures(state, RULE, 9, 1_200)).toBe(state);
    expect(freeProbes(state, RULE, 1_200)).toEqual({ free: 0, waitMs: 400 });
    expect(freeProbes(CLOSED, RULE, 0)).toBeNull();
  });

  it("its end alone lets nothing through: a probe must be granted", () => {
    const open: BreakerState = { state: "open", until: 500 };
    expect(expire(open, RULE, 5_000)).toBe(open);
    const wanted = [probe("a", 900), probe("b", 900), probe("c", 900)];
    const [state, granted] = grantProbes(open, RULE, wanted, 500);
    expect(granted).toEqual(["a", "b"]);
    expect(freeProbes(state, RULE, 600)).toEqual({ free: 0, waitMs: 300 });
    const ok = endProbe(state, RULE, { id: "a", result: "ok" }, 600);
    expect(ok.state).toBe("half-open");
    expect(endProbe(ok, RULE, { id: "b", result: "ok" }, 700)).toEqual(CLOSED);
    expect(endProbe(ok, RULE, { id: "b", result: "failed" }, 700)).toEqual({
      ...{ state: "open", until: 1_200 },
    });
  });

  it("a rule that is changed to fewer probes while some are out or were well leaves it no dead end", () => {
    const fewer = { ...RULE, probes: 1 };
    const well: BreakerState = { state: "half-open", probes: [], ok: 2 };
    expect(freeProbes(well, fewer, 0)).toBeNull();
    expect(expire(well, fewer, 0)).toEqual(CLOSED);
    const out: BreakerState = {
      ...{ state: "half-open", probes: [probe("a", 300), probe("b", 400)], ok: 0 },
    };
    expect(freeProbes(out, fewer, 100)).toEqual({ free: 0, waitMs: 200 });
    expect(grantProbes(out, fewer, [probe("c", 900)], 100)[1]).toEqual([]);
    expect(endProbe(out, fewer, { id: "a", result: "ok" }, 100)).toEqual(CLOSED);
  });

  it("a job that runs longer than its probe is heard when it ends, well or not", () => {
    const one = { ...RULE, probes: 1 };
    let [state] = grantProbes({ state: "open", until: 0 }, one, [probe("a", 100)], 0);
    for (const [id, now] of [
      ["b", 100],
      ["c", 200],
    ] as const) {
      const [next, granted] = grantProbes(state, one, [probe(id, now + 100)], now);
      expect(granted).toEqual([id]);
      state = next;
    }
    expect(endProbe(state, one, { id: "a", result: "ok" }, 250)).toEqual(CLOSED);
    expect(endProbe(state, one, { id: "b", result: "failed" }, 250)).toMatchObject({
      state: "open",
    });
    expect(endProbe(state, one, { id: "z", result: "ok" }, 250)).toBe(state);
    const said = endProbe(state, one, { id: "a", result: "unknown" }, 250);
    expect(endProbe(said, one, { id: "a", result: "ok" }, 260)).toBe(said);
  });

  it("what is said of a probe twice, or of one from before, is not heard", () => {
    const [state] = grantProbes({ state: "open", until: 0 }, RULE, [probe("a", 100)], 0);
    const once = endProbe(state, RULE, { id: "a", result: "ok" }, 10);
    expect(endProbe(once, RULE, { id: "a", result: "ok" }, 20)).toBe(once);
    expect(endProbe(once, RULE, { id: "z", result: "failed" }, 20)).toBe(once);
    expect(endProbe(CLOSED, RULE, { id: "a", result: "failed" }, 20)).toBe(CLOSED);
  });

  it("a probe that ends by itself is free again, a call that was not reported went well", () => {
    const wanted = [probe("a", 100), probe("b", 100, true)];
    const [state] = grantProbes({ state: "open", until: 0 }, RULE, wanted, 0);
    expect(expire(state, RULE, 100)).toEqual({
      ...{ state: "half-open", probes: [], ok: 1, late: ["a"] },
    });
    expect(freeProbes(state, RULE, 100)?.free).toBe(1);
    const unknown = endProbe(state, RULE, { id: "a", result: "unknown" }, 50);
    expect(freeProbes(unknown, RULE, 50)?.free).toBe(1);
  });

  /** Written once more, as naively as can be: everything that happened is kept, and judged from the start. */
  it("does what a naive model of it does", () => {
    const random = seededRandom(3);
    for (let round = 0; round < 200; round += 1) {
      let state = CLOSED;
      const model = {
        state: "closed",
        fails: [] as number[],
        until: 0,
        out: [] as string[],
        ok: 0,
      };
      let now = 0;
      for (let step = 0; step < 100; step += 1) {
        now += Math.floor(random() * 300);
        const dice = random();
        if (dice < 0.5) {
          state = addFailures(state, RULE, 1, now);
          if (model.state === "closed") {
            model.fails.push(now);
            const lately = model.fails.filter((at) => at > now - RULE.withinMs).length;
            if (lately >= RULE.failures) open(model, now);
          }
        } else if (dice < 0.75) {
          const [after, granted] = grantProbes(state, RULE, [probe(`${step}`, Infinity)], now);
          state = after;
          if (model.state === "open" && now >= model.until) model.state = "half-open";
          const isFree = model.state === "half-open" && model.out.length + model.ok < RULE.probes;
          if (isFree) model.out.push(`${step}`);
          expect(granted).toEqual(isFree ? [`${step}`] : []);
        } else {
          const id = model.out.shift() ?? "none";
          const result = random() < 0.7 ? "ok" : "failed";
          state = endProbe(state, RULE, { id, result }, now);
          if (id !== "none" && result === "failed") open(model, now);
          else if (id !== "none" && (model.ok += 1) >= RULE.probes) {
            Object.assign(model, { state: "closed", fails: [], out: [], ok: 0 });
          }
        }
        // The model calls it half-open when a probe is asked for; the breaker when one is granted: the same moment.
        expect(state.state).toBe(model.state);
      }
    }
  });
});

function open(
  model: { state: string; fails: number[]; until: number; out: string[]; ok: number },
  now: number,
): void {
  Object.assign(model, { state: "open", until: now + RULE.openMs, fails: [], out: [], ok: 0 });
}
