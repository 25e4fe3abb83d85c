import { describe, expect, it } from "vitest";
import {
  askGate,
  AT_REST,
  coolDown,
  noteFailures,
  noteProbe,
  readGate,
  rememberMs,
  returnTokens,
  type GateRule,
} from "./gate-state.ts";

const RULE: GateRule = {
  rates: [{ limit: 10, perMs: 1_000, burst: 4 }],
  cooldown: { maxMs: 60_000 },
  breaker: { failures: 2, withinMs: 1_000, openMs: 5_000, probes: 2 },
  forced: "auto",
};
const ASK = { least: 1, wanted: 3, mark: "m", probeMs: 1_000 };

describe("the state of a gate", () => {
  it("answers by what is forced, then cooldown, breaker and rate", () => {
    const cooled = coolDown(AT_REST, RULE, 5_000, 0);
    const open = noteFailures(cooled, RULE, 2, 0);
    const heldBy = (rule: GateRule, now: number) => askGate(open, rule, ASK, now)[1].heldBy;
    expect(heldBy({ ...RULE, forced: "open" }, 0)).toBe("forced");
    expect(heldBy(RULE, 0)).toBe("cooldown");
    expect(heldBy({ ...RULE, forced: "closed" }, 0)).toBeNull();
    expect(askGate(noteFailures(AT_REST, RULE, 2, 0), RULE, ASK, 0)[1]).toMatchObject({
      ...{ granted: 0, heldBy: "breaker", waitMs: 5_000 },
    });
    const [empty, granted] = askGate(AT_REST, RULE, { ...ASK, wanted: 9 }, 0);
    expect(granted).toEqual({ granted: 4, probes: [], heldBy: null, waitMs: null });
    expect(askGate(empty, RULE, ASK, 0)[1]).toMatchObject({ heldBy: "rate", waitMs: 100 });
  });

  it("while the breaker is half-open every grant is a probe, and a call of any cost is one", () => {
    const open = noteFailures(AT_REST, RULE, 2, 0);
    const [probing, answer] = askGate(open, RULE, { ...ASK, wanted: 9 }, 5_000);
    expect(answer).toMatchObject({ granted: 2, probes: ["m.0", "m.1"] });
    expect(askGate(probing, RULE, ASK, 5_000)[1].heldBy).toBe("breaker");
    const [, call] = askGate(open, RULE, { ...ASK, least: 3, isCall: true }, 5_000);
    expect(call).toMatchObject({ granted: 3, probes: ["m.0"] });
    const one = noteProbe(probing, RULE, { id: "m.0", result: "ok" }, 5_100);
    const both = noteProbe(one, RULE, { id: "m.1", result: "ok" }, 5_100);
    expect(readGate(both, RULE, 5_100)).toMatchObject({ state: "closed", failures: 0 });
  });

  it("of several cooldowns the longest counts, and none is longer than it may be", () => {
    const long = coolDown(AT_REST, RULE, 3_600_000, 0);
    expect(long.cooldownUntil).toBe(60_000);
    expect(coolDown(long, RULE, 10, 0)).toBe(long);
    expect(coolDown(AT_REST, { ...RULE, cooldown: null }, 10, 0)).toBe(AT_REST);
  });

  it("a gate without a rate writes nothing while it is at rest", () => {
    const rule = { ...RULE, rates: [] };
    const [state, { granted }] = askGate(AT_REST, rule, ASK, 0);
    expect(state).toBe(AT_REST);
    expect(granted).toBe(3);
  });

  it("is remembered as long as it says something", () => {
    const [used] = askGate(AT_REST, RULE, ASK, 0);
    expect(rememberMs(used, RULE, 0)).toBe(60_300);
    const back = returnTokens(used, RULE, [{ tokens: 3, takenAt: 0 }], 0);
    expect(rememberMs(back, RULE, 0)).toBe(60_000);
    expect(rememberMs(noteFailures(used, RULE, 2, 0), RULE, 0)).toBeGreaterThan(86_400_000);
  });
});
