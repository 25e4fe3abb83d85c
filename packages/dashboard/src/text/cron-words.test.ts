import { describe, expect, it } from "vitest";
import { cronWords } from "./cron-words.ts";

describe("a cron expression in words", () => {
  it.each([
    ["0 9 * * MON", "on Monday at 09:00"],
    ["0 9 * * 1-5", "from Monday to Friday at 09:00"],
    ["30 6,18 * * *", "every day at 06:30 and 18:30"],
    ["*/15 * * * *", "every 15 minutes"],
    ["* * * * *", "every minute"],
    ["5 * * * *", "every hour at minute 5"],
    ["0 */4 * * *", "every 4 hours at minute 0"],
    ["*/10 * * * * *", "every 10 seconds"],
    ["15 0 9 * * *", "every day at 09:00:15"],
    ["0 3 1 * *", "on day 1 of the month at 03:00"],
    ["0 3 L * *", "on the last day of the month at 03:00"],
    ["0 3 1 JAN,7 *", "on day 1 of January and July at 03:00"],
    ["0 0 * * 0,7,SAT", "on Sunday, Sunday and Saturday at 00:00"],
  ])("says %s", (cron, words) => expect(cronWords(cron)).toBe(words));

  it.each(["0 9-17 * * *", "0 9 1 * MON", "1,2 3 * * *", "0 9 * *", "a b c d e", ""])(
    "leaves %s as it is",
    (cron) => expect(cronWords(cron)).toBeNull(),
  );
});
