/**
 * Our ticks against those of croner and cron-parser. They agree, but for what docs/reference/cron.md explains:
 * every single tick that differs belongs to a row of its table.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextTick, parseCron, ticksBetween } from "../../packages/holdfast/src/core/cron.ts";
import { CLASSES, differences, type Difference, type DifferenceClass } from "./difference.ts";
import { drawCron, drawInstant, drawZone } from "./draw-cron.ts";
import { runs, SEED } from "./runs.ts";
import { PEER_NAMES, PEERS, type PeerName } from "./peers.ts";
import { DAY_MS } from "./wall-clock.ts";

const RUNS = runs({ daily: 120, full: 10_000 });
/** Ticks of one case. The libraries need a tenth of a millisecond and more for each. */
const LIMIT = 60;

const page = readFileSync(new URL("../../docs/reference/cron.md", import.meta.url), "utf8");

/** The rows of the page's table: which difference is whose. */
const ROWS = [...page.matchAll(/^\| `([a-z-]+)` +\| (Both|croner|cron-parser) +\|/gm)].map(
  ([, because = "", who = ""]) => ({ because, who }),
);

interface Case {
  readonly expression: string;
  readonly timeZone: string;
  readonly after: number;
}

/** Compares three days, or until the first tick. Null if the library refused. */
function compare(name: PeerName, { expression, timeZone, after }: Case): Difference[] | null {
  const cron = parseCron(expression);
  const first = nextTick(cron, timeZone, after) as number;
  const span = { after, until: Math.max(first, after + 3 * DAY_MS), limit: LIMIT };
  const ours = ticksBetween(cron, timeZone, span);
  const theirs = PEERS[name](expression, timeZone, span);
  if (typeof theirs === "string") return null;
  // A list that is full says nothing about what comes after it.
  const ends = [ours, theirs].map((ticks) => (ticks.length < LIMIT ? span.until : ticks.at(-1)));
  const until = Math.min(...(ends as number[]));
  return differences({
    after,
    ours: ours.filter((tick) => tick <= until),
    theirs: theirs.filter((tick) => tick <= until),
    timeZone,
    expression,
    named: cron.hours.named,
  });
}

function drawCase(): fc.Arbitrary<Case> {
  return drawZone().chain((timeZone) =>
    fc.record({
      expression: fc
        .boolean()
        .chain((seconds) => drawCron({ seconds }))
        .map((cron) => cron.expression),
      timeZone: fc.constant(timeZone),
      after: drawInstant(timeZone, { min: 2000, max: 2037 }),
    }),
  );
}

describe("against the libraries", () => {
  for (const name of PEER_NAMES) {
    it(`every tick that differs from ${name} is explained`, () => {
      const cases = fc.sample(drawCase(), { numRuns: RUNS, seed: SEED });
      const unexplained: string[] = [];
      const explained = ROWS.filter(({ who }) => who === name || who === "Both").map(
        ({ because }) => because,
      );
      let refused = 0;
      let same = 0;
      for (const one of cases) {
        const found = compare(name, one);
        if (found === null) refused++;
        else if (found.length === 0) same++;
        for (const { tick, whose, because } of found ?? []) {
          if (because !== null && explained.includes(because)) continue;
          const after = new Date(one.after).toISOString();
          const shown = new Date(tick).toISOString();
          unexplained.push(
            `${one.expression} ${one.timeZone} after ${after}: ${whose} ${shown} ${because}`,
          );
        }
      }
      expect(unexplained).toEqual([]);
      // Otherwise nothing would be compared.
      expect(refused).toBeLessThan(RUNS / 10);
      expect(same).toBeGreaterThan(RUNS / 2);
    }, 1_800_000);
  }
});

interface Example {
  readonly who: PeerName;
  readonly expression: string;
  readonly timeZone: string;
  readonly after: string;
  readonly because: readonly DifferenceClass[];
}

const example = (
  who: PeerName,
  expression: string,
  timeZone: string,
  after: string,
  ...because: DifferenceClass[]
): Example => ({ who, expression, timeZone, after, because });

/** One example of each row, so that a row that is no longer true is found out. */
const EXAMPLES: readonly Example[] = [
  example(
    "croner",
    "0 9 */1 * SUN",
    "UTC",
    "2026-01-02T12:00Z",
    "day-by-step-of-one",
    "day-by-step-of-one",
  ),
  example(
    "cron-parser",
    "0 9 */1 * SUN",
    "UTC",
    "2026-01-02T12:00Z",
    "day-by-step-of-one",
    "day-by-step-of-one",
  ),
  example("croner", "15,45 2 * * *", "America/New_York", "2025-03-08", "lost-in-gap"),
  example("cron-parser", "0 0 * * *", "America/Santiago", "2025-09-06", "lost-in-gap"),
  example("cron-parser", "30 2 * * *", "Europe/Berlin", "2025-03-29", "lost-in-gap", "late-in-gap"),
  example("cron-parser", "0 */2 * * *", "Europe/Berlin", "2025-03-29", "extra-in-gap"),
  example("cron-parser", "45 * * * *", "Australia/Lord_Howe", "2025-10-04", "silent-around-gap"),
  example("croner", "0 1,13 * * *", "America/New_York", "2025-11-01", "second-pass-fires"),
  example(
    "cron-parser",
    "20 0 * * *",
    "America/Havana",
    "2025-11-01",
    "first-pass-lost",
    "second-pass-fires",
  ),
  example("cron-parser", "0 */2 * * *", "Europe/Berlin", "2025-10-25", "one-pass-lost"),
  example(
    "cron-parser",
    "*/30 * * * *",
    "America/St_Johns",
    "2003-10-26T02:24Z",
    "before-asked",
    "before-asked",
  ),
];

describe("docs/reference/cron.md", () => {
  for (const { who, expression, timeZone, after, because } of EXAMPLES) {
    it(`is right about ${who}, ${expression} in ${timeZone} after ${after}`, () => {
      const found = compare(who, { expression, timeZone, after: Date.parse(after) });
      expect(found?.map((difference) => difference.because)).toEqual(because);
    });
  }

  it("has a row for each way to differ, and each row an example here", () => {
    expect(ROWS.map(({ because }) => because)).toEqual(CLASSES);
    expect(new Set(EXAMPLES.flatMap(({ because }) => because))).toEqual(new Set(CLASSES));
  });

  it("says that cron-parser gives up on some expressions", () => {
    const span = { after: 0, until: Infinity, limit: 1 };
    expect(PEERS["cron-parser"]("0 0 * * FRI-SUN", "UTC", span)).toContain("Invalid range");
    expect(PEERS["cron-parser"]("0 9 1,1 * *", "UTC", span)).toContain("duplicate values");
  });
});
