/** What holds for every expression in every zone, against a search that tries each minute. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextTick, parseCron, ticksBetween } from "../../packages/holdfast/src/core/cron.ts";
import {
  drawCron,
  drawInstant,
  drawZone,
  matches,
  namesHours,
  type DrawnCron,
} from "./draw-cron.ts";
import { runs, SEED } from "./runs.ts";
import { DAY_MS, MINUTE_MS, wallTime } from "./wall-clock.ts";

/** Zones of the seventies had offsets in seconds; a search by minutes would miss their ticks. */
const YEARS = { min: 1973, max: 2037 };

/**
 * Every tick after one instant and until another. A time of day fires in the minute in which the wall clock
 * first shows or passes it; a rhythm in every minute that matches.
 */
function bruteForce(cron: DrawnCron, timeZone: string, after: number, until: number): number[] {
  const ticks: number[] = [];
  const byName = namesHours(cron);
  let highest = wallTime(timeZone, after - 2 * DAY_MS);
  for (let at = after - 2 * DAY_MS + MINUTE_MS; at <= until; at += MINUTE_MS) {
    const wall = wallTime(timeZone, at);
    let fires = !byName && matches(cron, wall);
    for (; byName && highest < wall; highest += MINUTE_MS) {
      fires ||= matches(cron, highest + MINUTE_MS);
    }
    if (fires && at > after) ticks.push(at);
  }
  return ticks;
}

const drawCase = ({ seconds }: { readonly seconds: boolean }) =>
  drawZone().chain((timeZone) =>
    fc.record({
      cron: drawCron({ seconds }),
      timeZone: fc.constant(timeZone),
      after: drawInstant(timeZone, YEARS),
    }),
  );

describe("cron, for every expression in every zone", () => {
  it("skips no tick and makes none up, minute by minute through a week", () => {
    fc.assert(
      fc.property(drawCase({ seconds: false }), ({ cron, timeZone, after }) => {
        const until = after + 7 * DAY_MS;
        const span = { after, until, limit: Infinity };
        expect(ticksBetween(parseCron(cron.expression), timeZone, span)).toEqual(
          bruteForce(cron, timeZone, after, until),
        );
      }),
      { numRuns: runs({ daily: 30, full: 1500 }), seed: SEED },
    );
  }, 600_000);

  it("fires later than asked, and only when the wall clock shows a match or has jumped over one", () => {
    fc.assert(
      fc.property(drawCase({ seconds: true }), ({ cron, timeZone, after }) => {
        const tick = nextTick(parseCron(cron.expression), timeZone, after) as number;
        expect(tick).toBeGreaterThan(after);
        const wall = wallTime(timeZone, tick);
        if (matches(cron, wall)) return;
        expect(namesHours(cron)).toBe(true);
        const before = wallTime(timeZone, tick - 1000);
        const jumped = Array.from({ length: (wall - before) / 1000 }, (_, index) => index);
        expect(jumped.length).toBeGreaterThan(1);
        expect(jumped.some((seconds) => matches(cron, before + seconds * 1000))).toBe(true);
      }),
      { numRuns: runs({ daily: 500, full: 50_000 }), seed: SEED },
    );
  }, 600_000);

  it("gives the same next tick from every instant before it", () => {
    fc.assert(
      fc.property(
        drawCase({ seconds: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        ({ cron, timeZone, after }, part) => {
          const parsed = parseCron(cron.expression);
          const tick = nextTick(parsed, timeZone, after) as number;
          const between = Math.min(after + (tick - after) * part, tick - 1);
          expect(nextTick(parsed, timeZone, between)).toBe(tick);
          expect(nextTick(parsed, timeZone, tick - 1)).toBe(tick);
        },
      ),
      { numRuns: runs({ daily: 500, full: 50_000 }), seed: SEED },
    );
  }, 600_000);
});
