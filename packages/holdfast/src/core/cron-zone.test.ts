import { afterEach, describe, expect, it, vi } from "vitest";
import { nextTick, nextTicks, parseCron } from "./cron.ts";
import { checkTimeZone, zoneClock } from "./cron-zone.ts";
import { InvalidOptionError } from "./errors.ts";

const HOUR_MS = 3_600_000;

describe("checkTimeZone", () => {
  it("takes the names of the zone database, and UTC unless told", () => {
    expect(checkTimeZone()).toBe("UTC");
    const names = ["UTC", "Europe/Berlin", "Asia/Kolkata", "Etc/UTC", "europe/berlin", "+05:30"];
    for (const name of names) expect(checkTimeZone(name)).toBe(name);
    for (const name of Intl.supportedValuesOf("timeZone")) expect(checkTimeZone(name)).toBe(name);
  });

  it("names the nearest zone for one that is not known", () => {
    const near = [
      ["Europe/Berln", "Europe/Berlin"],
      ["Berlin", "Europe/Berlin"],
      ["America/NewYork", "America/New_York"],
      ["Amerika/Santiago", "America/Santiago"],
    ];
    for (const [typed, meant] of near) {
      expect(() => checkTimeZone(typed)).toThrow(`not "${typed}": did you mean "${meant}"?`);
    }
  });

  it("refuses what is no zone, and letters that mean several", () => {
    for (const value of ["", "Mars/Phobos", 5, null, {}, "BST", "ist", "PST", "GMT+2"]) {
      expect(() => checkTimeZone(value)).toThrow(InvalidOptionError);
      expect(() => checkTimeZone(value)).toThrow('must be a name such as "Europe/Berlin" or "UTC"');
    }
    expect(() => nextTick(parseCron("* * * * *"), "Mars/Phobos", 0)).toThrow(InvalidOptionError);
  });
});

describe("the clock of a zone", () => {
  it("changes in the second in which the zone's clocks do", () => {
    const berlin = zoneClock("Europe/Berlin");
    const change = Date.UTC(2025, 2, 30, 1);
    expect(berlin.stretchAt(change - 1)).toMatchObject({ to: change, offset: HOUR_MS });
    expect(berlin.stretchAt(change)).toMatchObject({ from: change, offset: 2 * HOUR_MS });
  });

  it("finds two changes that are a week apart", () => {
    // The shortest distance since 1970: Recife tried summer time for a week.
    const recife = zoneClock("America/Recife");
    const offsets = [7, 8, 9, 14, 15, 16].map(
      (day) => recife.stretchAt(Date.UTC(2000, 9, day, 12)).offset / HOUR_MS,
    );
    expect(offsets).toEqual([-3, -2, -2, -2, -3, -3]);
  });

  it("covers time without gaps and without overlaps", () => {
    const cairo = zoneClock("Africa/Cairo");
    let at = Date.UTC(2024, 0, 1);
    while (at < Date.UTC(2026, 0, 1)) {
      const stretch = cairo.stretchAt(at);
      expect(stretch.to).toBeGreaterThan(at);
      expect(cairo.stretchAt(stretch.to - 1)).toEqual(stretch);
      expect(cairo.stretchAt(stretch.to).from).toBe(stretch.to);
      at = stretch.to;
    }
  });

  it("forgets far pages and answers as before", () => {
    const berlin = zoneClock("Europe/Berlin");
    const first = berlin.stretchAt(Date.UTC(2025, 5, 1));
    for (let year = 2000; year < 2030; year++) {
      for (let month = 0; month < 12; month++) berlin.stretchAt(Date.UTC(year, month, 15));
    }
    expect(berlin.stretchAt(Date.UTC(2025, 5, 1))).toEqual(first);
  });
});

describe("what ticks cost", () => {
  afterEach(() => vi.restoreAllMocks());

  /** How often `Intl` is asked for an offset. */
  function asked(work: () => void): number {
    const spy = vi.spyOn(Intl.DateTimeFormat.prototype, "formatToParts");
    work();
    return spy.mock.calls.length;
  }

  it("is two questions of Intl in four days, however many schedules ask", () => {
    const crons = ["0 9 * * *", "*/5 * * * *", "30 2 * * 1-5", "0 */6 * * *"].map(parseCron);
    const start = Date.UTC(2025, 5, 2);
    const questions = asked(() => {
      for (let schedule = 0; schedule < 10_000; schedule++) {
        nextTick(crons[schedule % 4] as never, "Europe/Vienna", start + schedule * 1000);
      }
    });
    expect(questions).toBeLessThanOrEqual(6);
  });

  it("is no question of Intl in UTC", () => {
    const questions = asked(() =>
      nextTicks(parseCron("*/5 9-17 * * *"), "UTC", { after: 0, count: 1000 }),
    );
    expect(questions).toBe(0);
  });

  it("is a few questions for a leap day years ahead", () => {
    for (const expression of ["0 0 29 2 *", "* * 29 2 *", "30 */5 29 2 *"]) {
      const cron = parseCron(expression);
      const questions = asked(() => nextTick(cron, "Europe/Paris", Date.UTC(2096, 2, 1)));
      expect(questions).toBeLessThanOrEqual(12);
    }
  });
});
