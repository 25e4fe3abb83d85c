import { afterEach, describe, expect, it, vi } from "vitest";
import { lastTick, nextTick, nextTicks, parseCron, ticksBetween } from "./cron.ts";
import { InvalidOptionError } from "./errors.ts";

const at = (text: string) => Date.parse(`${text.replace(" ", "T")}Z`);
const shown = (tick: number) => new Date(tick).toISOString().slice(0, 19).replace("T", " ");

function ticks(expression: string, after: string, count = 3): string[] {
  return nextTicks(parseCron(expression), "UTC", { after: at(after), count }).map(shown);
}

/** Of ticks at midnight. */
function days(expression: string, after: string, count = 3): string[] {
  return ticks(expression, after, count).map((tick) => tick.slice(0, 10));
}

describe("the calendar of cron", () => {
  it("fires on a leap day in leap years only", () => {
    expect(days("0 0 29 2 *", "2026-01-01", 2)).toEqual(["2028-02-29", "2032-02-29"]);
    expect(days("0 0 29 2 *", "2096-02-29", 1)).toEqual(["2104-02-29"]);
    expect(days("0 0 29 2 *", "2396-02-29", 1)).toEqual(["2400-02-29"]);
  });

  it("skips months that do not have the day", () => {
    expect(days("0 0 31 * *", "2026-01-31")).toEqual(["2026-03-31", "2026-05-31", "2026-07-31"]);
    expect(days("0 0 30 * *", "2026-01-30", 2)).toEqual(["2026-03-30", "2026-04-30"]);
    expect(days("0 0 30 1,2 *", "2026-01-30", 1)).toEqual(["2027-01-30"]);
  });

  it("takes L for the last day of a month, beside other days too", () => {
    expect(days("0 0 L * *", "2026-01-01", 4)).toEqual([
      "2026-01-31",
      "2026-02-28",
      "2026-03-31",
      "2026-04-30",
    ]);
    expect(days("0 0 L 2 *", "2027-01-01", 2)).toEqual(["2027-02-28", "2028-02-29"]);
    expect(days("0 0 15,l * *", "2026-02-01")).toEqual(["2026-02-15", "2026-02-28", "2026-03-15"]);
    expect(days("0 0 31,L * *", "2026-02-01", 2)).toEqual(["2026-02-28", "2026-03-31"]);
  });

  it("takes both days as either, if both are given", () => {
    // 2026-02-13 is a Friday.
    expect(days("0 0 13 * 5", "2026-02-05", 4)).toEqual([
      "2026-02-06",
      "2026-02-13",
      "2026-02-20",
      "2026-02-27",
    ]);
    expect(days("0 0 1 * MON", "2026-01-27", 2)).toEqual(["2026-02-01", "2026-02-02"]);
    expect(days("0 0 L * MON", "2026-01-27", 2)).toEqual(["2026-01-31", "2026-02-02"]);
    expect(days("0 0 30 2 1", "2026-01-31", 2)).toEqual(["2026-02-02", "2026-02-09"]);
  });

  it("takes the other day alone, if one is * or ?", () => {
    expect(days("0 0 ? * MON", "2026-01-01", 2)).toEqual(["2026-01-05", "2026-01-12"]);
    expect(days("0 0 * * MON", "2026-01-01", 2)).toEqual(["2026-01-05", "2026-01-12"]);
    expect(days("0 0 13 * ?", "2026-01-01", 2)).toEqual(["2026-01-13", "2026-02-13"]);
    expect(days("0 0 */1 * MON", "2026-01-01", 2)).toEqual(["2026-01-05", "2026-01-12"]);
    expect(days("0 0 13 * */1", "2026-01-01", 2)).toEqual(["2026-01-13", "2026-02-13"]);
    expect(days("0 0 ? * ?", "2026-01-01", 2)).toEqual(["2026-01-02", "2026-01-03"]);
  });

  it("knows Sunday as 0, as 7 and by name", () => {
    const sundays = ["2026-01-04", "2026-01-11"];
    for (const day of ["0", "7", "SUN", "sun", "7-7", "0,7"]) {
      expect(days(`0 0 * * ${day}`, "2026-01-01", 2)).toEqual(sundays);
    }
    const weekend = ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"];
    for (const day of ["5-7", "FRI-SUN", "fri,sat,sun"]) {
      expect(days(`0 0 * * ${day}`, "2026-01-01", 4)).toEqual(weekend);
    }
    expect(days("0 0 * * SUN-TUE", "2026-01-01", 3)).toEqual([
      "2026-01-04",
      "2026-01-05",
      "2026-01-06",
    ]);
  });

  it("knows months by name, in any case", () => {
    expect(days("0 0 1 jan,Jun,DEC *", "2026-01-15")).toEqual([
      "2026-06-01",
      "2026-12-01",
      "2027-01-01",
    ]);
    expect(days("0 0 1 MAR-may *", "2026-01-15")).toEqual([
      "2026-03-01",
      "2026-04-01",
      "2026-05-01",
    ]);
  });

  it("takes lists, ranges and steps", () => {
    expect(ticks("5,10-12,40-59/15 8 * * *", "2026-01-01 08:00", 6)).toEqual(
      ["08:05", "08:10", "08:11", "08:12", "08:40", "08:55"].map((time) => `2026-01-01 ${time}:00`),
    );
    expect(ticks("*/25 * * * *", "2026-01-01 00:00", 3)).toEqual(
      ["00:25", "00:50", "01:00"].map((time) => `2026-01-01 ${time}:00`),
    );
    expect(days("0 0 */10 * *", "2026-01-01", 4)).toEqual([
      "2026-01-11",
      "2026-01-21",
      "2026-01-31",
      "2026-02-01",
    ]);
  });

  it("takes seconds as a sixth field in front", () => {
    expect(ticks("*/20 59 23 31 12 *", "2026-12-31 23:59:00", 3)).toEqual([
      "2026-12-31 23:59:20",
      "2026-12-31 23:59:40",
      "2027-12-31 23:59:00",
    ]);
    expect(ticks("* * * * * *", "2026-01-01 00:00:59", 2)).toEqual([
      "2026-01-01 00:01:00",
      "2026-01-01 00:01:01",
    ]);
  });
});

describe("nextTick", () => {
  const daily = parseCron("0 9 * * *");

  it("is after the given instant, never at it", () => {
    const nine = at("2026-01-01 09:00");
    expect(nextTick(daily, "UTC", nine - 1)).toBe(nine);
    expect(nextTick(daily, "UTC", nine - 0.5)).toBe(nine);
    expect(nextTick(daily, "UTC", nine)).toBe(nine + 86_400_000);
  });

  it("is in UTC unless told", () => {
    expect(nextTick(daily, undefined, at("2026-01-01 00:00"))).toBe(at("2026-01-01 09:00"));
    expect(nextTick(daily, "Asia/Tokyo", at("2026-01-01 01:00"))).toBe(at("2026-01-02 00:00"));
  });

  it("is null where time ends", () => {
    expect(nextTick(daily, "UTC", at("9999-12-31 10:00"))).toBe(null);
    expect(nextTick(daily, "Asia/Tokyo", at("9999-12-31 10:00"))).toBe(null);
    expect(nextTick(parseCron("* * 29 2 *"), "Asia/Tokyo", at("9997-01-01 00:00"))).toBe(null);
    expect(nextTick(daily, "UTC", Infinity)).toBe(null);
  });

  it("refuses what is no instant", () => {
    for (const after of [NaN, -1, -Infinity, "2026" as unknown as number]) {
      expect(() => nextTick(daily, "UTC", after)).toThrow(InvalidOptionError);
    }
  });

  describe("on machines in other zones", () => {
    afterEach(() => vi.unstubAllEnvs());

    it("gives the same answer", () => {
      const answers = ["UTC", "Asia/Tokyo", "America/Santiago", "Europe/Berlin"].map((host) => {
        vi.stubEnv("TZ", host);
        const from = { after: at("2025-03-29 00:00"), count: 50 };
        return ["0 0 * * *", "30 2 * * *", "0 */5 * * *"].map((expression) =>
          nextTicks(parseCron(expression), "Europe/Berlin", from),
        );
      });
      expect(new Date(0).getHours()).toBe(1);
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    });
  });
});

describe("ticks by the handful", () => {
  const hourly = parseCron("0 * * * *");
  const after = at("2026-01-01 00:00");

  it("are the next five unless told", () => {
    expect(nextTicks(hourly, "UTC", { after }).map((tick) => (tick - after) / 3_600_000)).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  it("lie after the first instant and until the second, that one included", () => {
    const until = at("2026-01-01 03:00");
    const hours = (limit: number) =>
      ticksBetween(hourly, "UTC", { after, until, limit }).map((tick) => shown(tick).slice(11, 16));
    expect(hours(100)).toEqual(["01:00", "02:00", "03:00"]);
    expect(hours(2)).toEqual(["01:00", "02:00"]);
    expect(hours(0)).toEqual([]);
    expect(ticksBetween(hourly, "UTC", { after: until, until, limit: 9 })).toEqual([]);
  });

  it("end with the one that lastTick finds", () => {
    for (const expression of ["* * * * * *", "*/7 9-17 * * 1", "0 0 L * *", "30 2 * * *"]) {
      const cron = parseCron(expression);
      for (const until of ["2026-03-01 00:00", "2026-03-29 01:00", "2026-03-29 12:34:56"]) {
        const span = { after: at(until) - 40 * 86_400_000, until: at(until) };
        const tail = { after: at(until) - 40_000, until: at(until), limit: Infinity };
        const all = expression.startsWith("* * * * *")
          ? ticksBetween(cron, "Europe/Berlin", tail)
          : ticksBetween(cron, "Europe/Berlin", { ...span, limit: Infinity });
        expect(lastTick(cron, "Europe/Berlin", span)).toBe(all.at(-1));
      }
    }
  });

  it("may be none", () => {
    const until = at("2026-01-01 00:59");
    expect(lastTick(hourly, "UTC", { after, until })).toBe(null);
    expect(lastTick(hourly, "UTC", { after: until, until: after })).toBe(null);
  });
});
