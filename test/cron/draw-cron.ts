/** Random expressions that come with what they mean, so that no test reads them with the parser it tests. */
import fc from "fast-check";
import { changesOf, DAY_MS } from "./wall-clock.ts";

interface DrawnField {
  readonly text: string;
  readonly values: ReadonlySet<number>;
}

export interface DrawnCron {
  readonly expression: string;
  readonly seconds: DrawnField;
  readonly minutes: DrawnField;
  readonly hours: DrawnField;
  readonly daysOfMonth: DrawnField;
  readonly months: DrawnField;
  readonly daysOfWeek: DrawnField;
}

/** Stands for `L` among the days of a month. */
const LAST = -1;

const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAYS = "SUN MON TUE WED THU FRI SAT".split(" ");

interface Span {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

function through(from: number, to: number, step = 1): number[] {
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
}

const all = ({ min, max }: Span): DrawnField => ({ text: "*", values: new Set(through(min, max)) });

function stepped({ min, max }: Span): fc.Arbitrary<DrawnField> {
  return fc.integer({ min: 2, max: Math.min(max - min, 12) }).map((step) => ({
    text: `*/${step}`,
    values: new Set(through(min, max, step)),
  }));
}

/** `5`, `MON`, `5-9`, `5-30/5`. */
function part({ min, max, names }: Span): fc.Arbitrary<DrawnField> {
  const value = fc.integer({ min, max });
  const one = fc.tuple(value, fc.boolean()).map(([of, byName]) => ({
    text: byName ? (names?.[of - min] ?? `${of}`) : `${of}`,
    values: new Set([of]),
  }));
  const range = fc
    .tuple(value, value, fc.constantFrom(1, 1, 2, 3, 5))
    .filter(([from, to]) => from < to)
    .map(([from, to, step]) => ({
      text: `${from}-${to}${step === 1 ? "" : `/${step}`}`,
      values: new Set(through(from, to, step)),
    }));
  return fc.oneof({ weight: 3, arbitrary: one }, { weight: 2, arbitrary: range });
}

/** Parts that share no value: cron-parser refuses those that do. */
function list(span: Span, more: readonly DrawnField[] = []): fc.Arbitrary<DrawnField> {
  const parts = more.length === 0 ? part(span) : fc.oneof(part(span), fc.constantFrom(...more));
  return fc.array(parts, { minLength: 1, maxLength: 3 }).map((drawn) => {
    const values = new Set<number>();
    const texts: string[] = [];
    for (const one of drawn) {
      if ([...one.values].some((value) => values.has(value))) continue;
      for (const value of one.values) values.add(value);
      texts.push(one.text);
    }
    return { text: texts.join(","), values };
  });
}

/** Of ten, `open` are `*` and `steps` are steps over all; the others name values. */
function field(span: Span, open: number, steps: number, more?: readonly DrawnField[]) {
  return fc.oneof(
    { weight: open, arbitrary: fc.constant(all(span)) },
    { weight: steps, arbitrary: stepped(span) },
    { weight: 10 - open - steps, arbitrary: list(span, more) },
  );
}

/** `*` may also be written as a step of one. */
function day(span: Span, steps: number, more?: readonly DrawnField[]) {
  return fc.oneof(
    { weight: 19, arbitrary: field(span, 7, steps, more) },
    { weight: 1, arbitrary: fc.constant({ ...all(span), text: STEP_OF_ONE }) },
  );
}

const STEP_OF_ONE = "*/1";

/** Nothing is said about this day. */
function isOpen({ text }: DrawnField): boolean {
  return text === "*" || text === STEP_OF_ONE;
}

const SIXTY = { min: 0, max: 59 };
const LAST_DAY = { text: "L", values: new Set([LAST]) };
const AT_ZERO = { text: "0", values: new Set([0]) };

/** With seconds in front if told. Days stop at 28, so that every expression fires. */
export function drawCron({ seconds }: { readonly seconds: boolean }): fc.Arbitrary<DrawnCron> {
  return fc
    .record({
      seconds: seconds ? field(SIXTY, 1, 2) : fc.constant(AT_ZERO),
      minutes: field(SIXTY, 1, 2),
      hours: field({ min: 0, max: 23 }, 2, 2),
      daysOfMonth: day({ min: 1, max: 28 }, 0, [LAST_DAY]),
      months: field({ min: 1, max: 12, names: MONTHS }, 8, 1),
      daysOfWeek: day({ min: 0, max: 6, names: DAYS }, 1),
    })
    .map((drawn) => ({ ...drawn, expression: textOf(drawn, seconds) }));
}

function textOf(drawn: Omit<DrawnCron, "expression">, seconds: boolean): string {
  const { minutes, hours, daysOfMonth, months, daysOfWeek } = drawn;
  const fields = [minutes, hours, daysOfMonth, months, daysOfWeek];
  return (seconds ? [drawn.seconds, ...fields] : fields).map(({ text }) => text).join(" ");
}

/** Does the expression name hours, or is it a rhythm? */
export function namesHours({ hours }: DrawnCron): boolean {
  return !hours.text.startsWith("*");
}

/** Does a local time match all fields? */
export function matches(cron: DrawnCron, wall: number): boolean {
  const date = new Date(wall);
  if (!cron.seconds.values.has(date.getUTCSeconds())) return false;
  if (!cron.minutes.values.has(date.getUTCMinutes())) return false;
  if (!cron.hours.values.has(date.getUTCHours())) return false;
  if (!cron.months.values.has(date.getUTCMonth() + 1)) return false;
  const isLast = new Date(wall + DAY_MS).getUTCDate() === 1;
  const { daysOfMonth, daysOfWeek } = cron;
  const byMonth =
    daysOfMonth.values.has(date.getUTCDate()) || (isLast && daysOfMonth.values.has(LAST));
  const byWeek = daysOfWeek.values.has(date.getUTCDay());
  if (isOpen(daysOfMonth)) return isOpen(daysOfWeek) || byWeek;
  return isOpen(daysOfWeek) ? byMonth : byMonth || byWeek;
}

/** Half of the zones are those with the odd changes. */
const ODD = (
  "Europe/Berlin America/New_York Australia/Lord_Howe America/Santiago Africa/Cairo Asia/Beirut " +
  "Africa/Casablanca America/Havana Atlantic/Azores America/St_Johns Asia/Tehran America/Sao_Paulo"
).split(" ");

export function drawZone(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...ODD),
    fc.constantFrom("UTC", ...Intl.supportedValuesOf("timeZone")),
  );
}

/** A whole minute; two of three times shortly before the clocks are changed, if they are in that year. */
export function drawInstant(
  timeZone: string,
  years: { readonly min: number; readonly max: number },
): fc.Arbitrary<number> {
  return fc
    .record({
      year: fc.integer(years),
      minute: fc.nat(365 * 1440),
      near: fc.nat(2),
      change: fc.nat(9),
      before: fc.nat(2 * 1440),
    })
    .map(({ year, minute, near, change, before }) => {
      const changes = changesOf(timeZone, year);
      const found = near === 0 ? undefined : changes[change % Math.max(1, changes.length)];
      return found === undefined
        ? Date.UTC(year, 0, 1) + minute * 60_000
        : found.at - before * 60_000;
    });
}
