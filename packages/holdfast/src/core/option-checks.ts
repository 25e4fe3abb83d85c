/** How options are judged: the same sentence for the same mistake, wherever it is made. */
import { InvalidOptionError } from "./errors.ts";
import { meaningOf } from "./other-words.ts";
import { show } from "./text.ts";

/** Ten years: longer waits are mistakes (seconds taken for milliseconds, a date for a duration). */
export const MAX_DURATION_MS = 10 * 365 * 86_400_000;

export interface Range {
  readonly min: number;
  readonly max: number;
}

export function checkWhole(what: string, value: unknown, { min, max }: Range): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw new InvalidOptionError(
    `${what} must be a whole number from ${min} to ${max}, not ${show(value)}`,
  );
}

export function checkNumber(what: string, value: unknown, { min, max }: Range): number {
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw new InvalidOptionError(
    `${what} must be a number from ${min} to ${max}, not ${show(value)}`,
  );
}

export function checkOneOf<Choice extends string>(
  what: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  if (choices.includes(value as Choice)) return value as Choice;
  const allowed = choices.map((choice) => `"${choice}"`).join(" or ");
  const nearest = typeof value === "string" ? nearestWord(value, choices) : null;
  const advice = nearest === null ? "" : `: did you mean "${nearest}"?`;
  throw new InvalidOptionError(`${what} must be ${allowed}, not ${show(value)}${advice}`);
}

/** The options of whatever stops: how long it waits for what runs. */
export function checkGrace(what: string, options: unknown): void {
  checkOptions(what, options, ["graceMs"]);
  const { graceMs } = options as { readonly graceMs?: unknown };
  if (graceMs !== undefined) checkWhole("graceMs", graceMs, { min: 0, max: 86_400_000 });
}

/** `"false"` is a text, and would count as true or as false depending on who asks. */
export function checkFlag(what: string, value: unknown): void {
  if (typeof value === "boolean") return;
  throw new InvalidOptionError(`${what} must be true or false, not ${show(value)}`);
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new InvalidOptionError(`${what} must be a function, not ${show(value)}`);
}

export function checkObject(what: string, value: unknown): asserts value is object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new InvalidOptionError(`${what} must be an object, not ${show(value)}`);
}

/** An options object, and nothing in it that is not known: what every public call asks of its options. */
export function checkOptions(
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    // A text is not shown: it may be a URL with a password.
    const shown = typeof given === "string" ? "a text" : show(given);
    throw new InvalidOptionError(
      `${what} takes an object of options, not ${shown}: { ${allowed.slice(0, 4).join(", ")}${allowed.length > 4 ? ", …" : ""} }`,
    );
  }
  refuseUnknown(what, given, allowed);
}

/** A misspelt option that is silently ignored is the worst of all: the caller believes it is set. */
export function refuseUnknown(what: string, given: object, allowed: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue;
    throw new InvalidOptionError(`${what} has no option ${show(name)}: ${advice(name, allowed)}`);
  }
}

function advice(name: string, allowed: readonly string[]): string {
  const known = meaningOf(name, allowed);
  const meant = known === null ? nearestWord(name, allowed) : known.word;
  if (meant !== null) return `did you mean "${meant}"?`;
  return known?.instead ?? `it takes ${allowed.join(", ")}`;
}

/** The word that takes the fewest edits, or null if none is near. */
export function nearestWord(word: string, words: readonly string[]): string | null {
  const typed = word.slice(0, 64).toLowerCase();
  let nearest: string | null = null;
  let fewest = Math.max(2, Math.floor(typed.length / 2)) + 1;
  for (const candidate of words) {
    const known = candidate.toLowerCase();
    // "delay" for "delayMs", "key" for "idempotencyKey": a part of the name is near enough.
    const part = typed.length >= 3 && (known.startsWith(typed) || known.endsWith(typed));
    const edits = part ? 1 : editDistance(typed, known);
    // A word of which no letter is left is another word.
    if (edits < fewest && edits < typed.length) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Levenshtein's, one row at a time. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (current[column - 1] as number) + 1,
          (above[column] as number) + 1,
          (above[column - 1] as number) + same,
        ),
      );
    }
    above = current;
  }
  return above[right.length] as number;
}

export function checkText(what: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new InvalidOptionError(`${what} must be a text`);
}

/** In milliseconds since the epoch. */
export function checkDate(what: string, date: unknown): number {
  if (date instanceof Date && Number.isFinite(date.getTime())) return date.getTime();
  throw new InvalidOptionError(`${what} must be a valid Date`);
}
