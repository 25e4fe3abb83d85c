import { describe, expect, it } from "vitest";
import { parseCron } from "./cron-expression.ts";
import { InvalidOptionError } from "./errors.ts";

/** What is refused, and what the message tells the caller to write. */
const REFUSED: readonly (readonly [expression: string, says: string])[] = [
  // counts of fields
  ["", "is empty: write five (minute, hour, day of month, month, day of week"],
  ["   ", "is empty"],
  ["5", "has one field: write five"],
  [
    "* * * *",
    'has 4 fields: write five (minute, hour, day of month, month, day of week, such as "0',
  ],
  ["0 0 * * * * 2027", "has 7 fields"],
  ["*/100 * * * * * *", "one tick a second is the most"],
  ["@daily", 'is a name: write "0 0 * * *"'],
  ["@Hourly", 'is a name: write "0 * * * *"'],
  ["@every 1h30m", "is an interval: give everyMs instead of cron"],
  ["CRON_TZ=Europe/Berlin 0 9 * * *", "give it as timeZone, beside cron"],
  ["TZ=UTC 0 9 * * *", "give it as timeZone, beside cron"],
  ["@reboot", "has one field"],
  // values out of range
  ["60 * * * *", 'minute: "60" is out of range: write 0 to 59'],
  ["60 * * * * *", 'second: "60" is out of range: write 0 to 59'],
  ["0 24 * * *", 'hour: "24" is out of range: write 0 to 23'],
  ["0 0 0 * *", 'day of month: "0" is out of range: write 1 to 31'],
  ["0 0 32 * *", 'day of month: "32" is out of range'],
  ["0 0 * 0 *", 'month: "0" is out of range: write 1 to 12, or JAN to DEC'],
  ["0 0 * 13 *", 'month: "13" is out of range'],
  ["0 0 * * 8", 'day of week: "8" is out of range: write 0 to 7, or SUN to SAT'],
  ["0-60 * * * *", '"60" is out of range'],
  ["0 99999999999 * * *", '"99999999999" is not known: write 0 to 23'],
  // names
  ["0 0 * FBE *", 'month: "FBE" is not known: did you mean "FEB"?'],
  ["0 0 * * monday", 'did you mean "MON"?'],
  ["0 0 * * MONTAG", "day of week"],
  ["0 JAN * * *", 'hour: "JAN" is not known: write 0 to 23'],
  ["1.5 * * * *", '"1.5" is not known'],
  // ranges
  ["0 22-2 * * *", 'hour: "22-2" runs backwards: write "22-23,0-2"'],
  ["0 23-0 * * *", 'write "23,0"'],
  ["0 0 * NOV-FEB *", 'write "NOV-DEC,JAN-FEB"'],
  ["0 0 * * FRI-MON", 'write "FRI-SAT,SUN-MON"'],
  ["0 0 * * 5-0", 'write "5-7"'],
  ["0 0 * * 5-1", 'write "5-6,0-1"'],
  ["0 0 * * 7-2", 'write "0-2"'],
  ["0 0 * * 7-0", 'write "0"'],
  ["1-2-3 * * * *", "two ranges"],
  ["-1 * * * *", 'a value is missing in "-1"'],
  ["1- * * * *", 'a value is missing in "1-"'],
  ["1,,2 * * * *", "a comma without a value"],
  [", * * * *", "a comma without a value"],
  // steps
  ["*/0 * * * *", 'the step "0" must be 1 to 59: write "*/2"'],
  ["*/ * * * *", 'the step "" must be 1 to 59'],
  ["*/x * * * *", 'the step "x" must be'],
  ["*/-5 * * * *", 'the step "-5" must be'],
  ["*/90 * * * *", 'the step 90 is above 59, so that only 0 is left: write "0"'],
  ["0 */24 * * *", 'write "0"'],
  ["0 0 * */12 *", 'write "1"'],
  ["*/5/5 * * * *", "two steps"],
  ["5/15 * * * *", 'has a step without a range: write "5-59/15"'],
  // signs
  ["? * * * *", '"?" stands alone, and only for a day: write "*"'],
  ["0 0 ?/2 * *", '"?" stands alone'],
  ["0 0 * * L", "only L is taken, alone, as a day of the month"],
  ["0 0 * * 5L", "only L is taken"],
  ["0 0 L-3 * *", "only L is taken"],
  ["0 0 15W * *", "only L is taken"],
  ["0 0 * * 1#2", "only L is taken"],
  ["** * * * *", '"**" is not known'],
  ["0 0 * * H", "day of week"],
  // days that never come
  ["0 0 30 2 *", "never fires: there is no day 30 in FEB"],
  ["0 0 30,31 FEB ?", 'there is no day 30 in FEB. Write "L" for the last day of a month'],
  ["0 0 31 4,6,9,11 *", "there is no day 31 in APR, JUN, SEP, NOV"],
];

describe("parseCron", () => {
  for (const [expression, says] of REFUSED) {
    it(`refuses "${expression}" and says: ${says}`, () => {
      let message = "";
      try {
        parseCron(expression);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidOptionError);
        message = (error as Error).message;
      }
      expect(message).toContain(says);
      expect(message).toMatch(/^cron "/);
    });
  }

  it("refuses what is no text, and text without end", () => {
    for (const value of [undefined, null, 5, {}, ["*"], "* ".repeat(300)]) {
      expect(() => parseCron(value as string)).toThrow(InvalidOptionError);
    }
  });

  it("takes back what its messages tell callers to write", () => {
    const told = REFUSED.flatMap(([expression]) => {
      try {
        parseCron(expression);
        return [];
      } catch (error) {
        const write = /^cron "(.*?)": ([a-z ]+): .*write "([^"]+)"/.exec((error as Error).message);
        return write === null ? [] : [{ field: write[2] as string, text: write[3] as string }];
      }
    });
    expect(told.length).toBeGreaterThan(15);
    const names = ["second", "minute", "hour", "day of month", "month", "day of week"];
    for (const { field, text } of told) {
      const fields = names.map((name) => (name === field ? text : "*"));
      expect(() => parseCron(fields.join(" "))).not.toThrow();
    }
  });

  it("takes days that some year or some month has", () => {
    for (const expression of ["0 0 29 2 *", "0 0 31 4,5 *", "0 0 30,L 2 *", "0 0 30 2 MON"]) {
      expect(parseCron(expression).expression).toBe(expression);
    }
  });

  it("takes any white space and zeros in front", () => {
    expect(parseCron("  00\t09  01 * * ").expression).toBe("00 09 01 * *");
  });

  it("takes only * and steps over all hours for a rhythm", () => {
    const named = (hour: string) => parseCron(`0 ${hour} * * *`).hours.named;
    for (const hour of ["*", "*/2", "*/4,*/6"]) expect(named(hour)).toBe(false);
    for (const hour of ["0", "0-23", "0-23/2", "*/6,5", "*,5"]) expect(named(hour)).toBe(true);
  });

  it("cannot be changed afterwards", () => {
    const cron = parseCron("0 9 * * *");
    expect(Object.isFrozen(cron) && Object.isFrozen(cron.hours)).toBe(true);
  });
});
