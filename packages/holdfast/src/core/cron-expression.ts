/** A cron expression, read once. What cannot be meant is refused here, so that no schedule is silently dead. */
import { parseField, type CronField, type FieldRule } from "./cron-field.ts";
import { InvalidOptionError } from "./errors.ts";
import { show } from "./text.ts";

/** Made by `parseCron`. */
export interface Cron {
  /** As it was given, with single blanks. */
  readonly expression: string;
  readonly seconds: CronField;
  readonly minutes: CronField;
  readonly hours: CronField;
  readonly daysOfMonth: CronField;
  readonly months: CronField;
  readonly daysOfWeek: CronField;
}

const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAYS = "SUN MON TUE WED THU FRI SAT".split(" ");

/** How long each month is at most: February in a leap year. */
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const SECOND: FieldRule = { name: "second", min: 0, max: 59 };
const MINUTE: FieldRule = { name: "minute", min: 0, max: 59 };
const HOUR: FieldRule = { name: "hour", min: 0, max: 23 };
const DAY_OF_MONTH: FieldRule = { name: "day of month", min: 1, max: 31, marks: ["?", "L"] };
const MONTH: FieldRule = { name: "month", min: 1, max: 12, names: MONTHS };
const DAY_OF_WEEK: FieldRule = {
  name: "day of week",
  min: 0,
  max: 6,
  alias: 7,
  names: DAYS,
  marks: ["?"],
};

const FORM = 'minute, hour, day of month, month, day of week, such as "0 9 * * 1"';

const NICKNAMES = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

/** A list of every minute and every second has less. */
const MAX_CHARS = 500;

/** Throws `InvalidOptionError` with what to write instead. */
export function parseCron(expression: string): Cron {
  if (typeof expression !== "string" || expression.length > MAX_CHARS) {
    const what = typeof expression === "string" ? "a longer text" : show(expression);
    throw new InvalidOptionError(
      `cron must be a text of at most ${MAX_CHARS} characters, not ${what}: write ${FORM}`,
    );
  }
  const texts = expression.trim().split(/\s+/);
  const where = texts.join(" ");
  refuseOtherForms(where);
  if (texts.length === 5) texts.unshift("0");
  if (texts.length !== 6) refuseCount(where, texts.length);
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = texts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const cron: Cron = Object.freeze({
    expression: where,
    seconds: parseField(second, SECOND, where),
    minutes: parseField(minute, MINUTE, where),
    hours: parseField(hour, HOUR, where),
    daysOfMonth: parseField(dayOfMonth, DAY_OF_MONTH, where),
    months: parseField(month, MONTH, where),
    daysOfWeek: parseField(dayOfWeek, DAY_OF_WEEK, where),
  });
  refuseImpossible(cron);
  return cron;
}

/** What other systems take in the place of an expression, or in front of it. */
function refuseOtherForms(where: string): void {
  const refuse = (why: string) => {
    throw new InvalidOptionError(`cron ${show(where, 80)} ${why}`);
  };
  const spelled = NICKNAMES.get(where.toLowerCase());
  if (spelled !== undefined) refuse(`is a name: write "${spelled}"`);
  if (/^@every\b/i.test(where)) refuse("is an interval: give everyMs instead of cron");
  if (/^(CRON_)?TZ=/i.test(where)) refuse("names a zone: give it as timeZone, beside cron");
}

function refuseCount(where: string, count: number): never {
  const has = where === "" ? "is empty" : count === 1 ? "has one field" : `has ${count} fields`;
  const most =
    count > 6
      ? ". There is no field for years or parts of a second: one tick a second is the most"
      : "";
  throw new InvalidOptionError(
    `cron ${show(where, 80)} ${has}: write five (${FORM}), or six with the second in front${most}`,
  );
}

/** 30 February. A day of the week beside it can still match. */
function refuseImpossible({ expression, daysOfMonth, months, daysOfWeek }: Cron): void {
  if (daysOfWeek.given || daysOfMonth.last) return;
  const first = daysOfMonth.next[0] as number;
  const named = MONTHS.filter((_, index) => months.next[index + 1] === index + 1);
  if (named.some((name) => first <= (LONGEST[MONTHS.indexOf(name)] as number))) return;
  throw new InvalidOptionError(
    `cron ${show(expression, 80)} never fires: there is no day ${first} in ${named.join(", ")}. ` +
      `Write "L" for the last day of a month`,
  );
}
