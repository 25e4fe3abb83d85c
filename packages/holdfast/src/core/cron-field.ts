/** One field of a cron expression: what may stand in it, and which values it allows. */
import { InvalidOptionError } from "./errors.ts";
import { nearestWord } from "./option-checks.ts";
import { show } from "./text.ts";

/** What may stand in a field. `*` means `min` to `max`. */
export interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of the values from `min` on. */
  readonly names?: readonly string[];
  /** A value above `max` that means `min`: 7 is Sunday as 0 is. */
  readonly alias?: number;
  /** Takes `?` for `*`, and `L` for the last day of a month. */
  readonly marks?: readonly string[];
}

export interface CronField {
  /** Of each value: the least allowed one from it on, or `NONE`. One longer than the field. */
  readonly next: Int8Array;
  /** Some part names values. `*` does not, with a step or without. */
  readonly named: boolean;
  /** Something is said about this field: it is more than `*` or `?`. */
  readonly given: boolean;
  /** `L` is among the parts. */
  readonly last: boolean;
}

/** No allowed value is left. */
export const NONE = -1;

const WHOLE = /^\d{1,9}$/;

/** Throws `InvalidOptionError` with what to write instead. `where` is the whole expression. */
export function parseField(text: string, rule: FieldRule, where: string): CronField {
  const parts = text.split(",");
  const allowed = new Uint8Array(rule.max + 1);
  let last = false;
  for (const part of parts) {
    if (part === "") refuse(where, rule, `a comma without a value in ${show(text)}: write "1,2"`);
    if (part.toUpperCase() === "L" && rule.marks?.includes("L") === true) last = true;
    else allow(allowed, part, rule, where);
  }
  return Object.freeze({
    next: nextOf(allowed),
    named: !parts.every((part) => part.startsWith("*") || part === "?"),
    given: !parts.every((part) => part === "*" || part === "?" || part === "*/1"),
    last,
  });
}

function nextOf(allowed: Uint8Array): Int8Array {
  const next = new Int8Array(allowed.length + 1).fill(NONE);
  for (let value = allowed.length - 1; value >= 0; value--) {
    next[value] = allowed[value] === 1 ? value : (next[value + 1] as number);
  }
  return next;
}

/** One part of a list: `*`, `5`, `1-5`, each range with a step or without. */
function allow(allowed: Uint8Array, part: string, rule: FieldRule, where: string): void {
  const [range = "", stepText, ...more] = part.split("/");
  if (more.length > 0) refuse(where, rule, `two steps in ${show(part)}: write "*/5"`);
  const [from, to] = ends(range, stepText, rule, where);
  const step = stepText === undefined ? 1 : checkStep(stepText, from, rule, where);
  for (let value = from; value <= to; value += step) {
    allowed[value === rule.alias ? rule.min : value] = 1;
  }
}

function ends(
  range: string,
  stepText: string | undefined,
  rule: FieldRule,
  where: string,
): readonly [number, number] {
  if (range === "*") return [rule.min, rule.max];
  if (range === "?") {
    if (rule.marks?.includes("?") === true && stepText === undefined) return [rule.min, rule.max];
    refuse(where, rule, `"?" stands alone, and only for a day: write "*"`);
  }
  const [fromText = "", toText, ...more] = range.split("-");
  if (more.length > 0) refuse(where, rule, `two ranges in ${show(range)}: write "1-3,5-7"`);
  if (fromText === "" || toText === "") {
    refuse(where, rule, `a value is missing in ${show(range)}: write "1" or "1-5"`);
  }
  const from = valueOf(fromText, rule, where);
  if (toText === undefined) {
    if (stepText === undefined) return [from, from];
    const whole = `${fromText}-${rule.max}/${stepText}`;
    refuse(where, rule, `"${range}/${stepText}" has a step without a range: write "${whole}"`);
  }
  const end = valueOf(toText, rule, where);
  // "FRI-SUN": by its name the day at the end of a week is the one that closes it.
  const closes = rule.alias !== undefined && end === rule.min && !WHOLE.test(toText);
  const to = closes && from > rule.min ? (rule.alias as number) : end;
  if (from <= to) return [from, to];
  const byName = !WHOLE.test(fromText) && !WHOLE.test(toText);
  const instead = forwards(from, to, rule, byName);
  refuse(where, rule, `${show(range)} runs backwards: write "${instead}"`);
}

/** `22-2` as `22-23,0-2`, and for days of the week `5-0` as `5-7`. */
function forwards(from: number, to: number, rule: FieldRule, byName: boolean): string {
  const { min, max, alias, names = [] } = rule;
  if (alias !== undefined && to === min) return from === alias ? `${min}` : `${from}-${alias}`;
  const word = (value: number) => (byName ? names[value - min] : `${value}`);
  const span = (low: number, high: number) =>
    low === high ? word(low) : `${word(low)}-${word(high)}`;
  return from === alias ? `${span(min, to)}` : `${span(from, max)},${span(min, to)}`;
}

function valueOf(text: string, rule: FieldRule, where: string): number {
  const highest = rule.alias ?? rule.max;
  const takes =
    `${rule.min} to ${highest}` +
    (rule.names === undefined ? "" : `, or ${rule.names[0]} to ${rule.names.at(-1)}`);
  if (WHOLE.test(text)) {
    const value = Number(text);
    if (value >= rule.min && value <= highest) return value;
    refuse(where, rule, `${show(text)} is out of range: write ${takes}`);
  }
  const index = rule.names?.indexOf(text.toUpperCase()) ?? -1;
  if (index >= 0) return rule.min + index;
  const nearest = rule.names === undefined ? null : nearestWord(text, rule.names);
  const hint = nearest === null ? `write ${takes}` : `did you mean "${nearest}"?`;
  const marks = /[LW#]/i.test(text) && nearest === null;
  refuse(
    where,
    rule,
    `${show(text)} is not known: ${hint}` +
      (marks ? `. Of the signs L, W and # only L is taken, alone, as a day of the month` : ""),
  );
}

function checkStep(text: string, from: number, rule: FieldRule, where: string): number {
  const span = rule.max - rule.min;
  const step = WHOLE.test(text) ? Number(text) : 0;
  if (step < 1) refuse(where, rule, `the step ${show(text)} must be 1 to ${span}: write "*/2"`);
  if (step <= span) return step;
  // "*/90" for minutes would fire at minute 0 of every hour, which is never what was meant.
  refuse(
    where,
    rule,
    `the step ${text} is above ${span}, so that only ${from} is left: write "${from}"`,
  );
}

function refuse(where: string, rule: FieldRule, why: string): never {
  throw new InvalidOptionError(`cron ${show(where, 80)}: ${rule.name}: ${why}`);
}
