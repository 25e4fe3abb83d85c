/** How options of this package are judged: unknown ones are refused with the nearest known name. */
import { InvalidOptionError } from "holdfast";

export const MOST = 1_000_000_000;
export const MAX_DURATION_MS = 10 * 365 * 86_400_000;

export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (value === null || typeof value !== "object") return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}

export function checkObject(what: string, given: unknown): asserts given is object {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return;
  throw new InvalidOptionError(`${what} takes an object, not ${shown(given)}`);
}

/** A misspelt option that is silently ignored is the worst of all: the caller believes it is set. */
export function checkOptions(
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is object {
  checkObject(what, given);
  const unknown = Object.keys(given).find((name) => !allowed.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestOf(unknown, allowed);
  const advice = nearest === null ? `it takes ${allowed.join(", ")}` : `did you mean "${nearest}"?`;
  throw new InvalidOptionError(`${what} has no option ${shown(unknown)}: ${advice}`);
}

export function checkWhole(what: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw new InvalidOptionError(
    `${what} must be a whole number from ${min} to ${max}, not ${shown(value)}`,
  );
}

export function checkNumber(what: string, value: unknown, min: number, max: number): number {
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw new InvalidOptionError(
    `${what} must be a number from ${min} to ${max}, not ${shown(value)}`,
  );
}

export function checkOneOf<Choice extends string>(
  what: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  if (choices.includes(value as Choice)) return value as Choice;
  const allowed = choices.map((choice) => `"${choice}"`).join(" or ");
  const nearest = typeof value === "string" ? nearestOf(value, choices) : null;
  const advice = nearest === null ? "" : `: did you mean "${nearest}"?`;
  throw new InvalidOptionError(`${what} must be ${allowed}, not ${shown(value)}${advice}`);
}

/** A Date, or what `new Date` reads: programs over HTTP have texts. */
export function checkInstant(what: string, value: unknown): number {
  const isTime = value instanceof Date || typeof value === "string";
  const at = isTime ? new Date(value).getTime() : value;
  if (Number.isInteger(at) && (at as number) >= 0 && (at as number) <= 253_402_300_799_999) {
    return at as number;
  }
  throw new InvalidOptionError(
    `${what} must be a Date between the years 1970 and 9999, not ${shown(value)}`,
  );
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new InvalidOptionError(`${what} must be a function, not ${shown(value)}`);
}

function nearestOf(word: string, words: readonly string[]): string | null {
  const typed = word.slice(0, 64).toLowerCase();
  let nearest: string | null = null;
  let fewest = Math.max(2, Math.floor(typed.length / 2)) + 1;
  for (const candidate of words) {
    const known = candidate.toLowerCase();
    const isPart = typed.length >= 3 && (known.startsWith(typed) || known.endsWith(typed));
    const edits = isPart ? 1 : editsBetween(typed, known);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest;
}

/** Levenshtein's, one row at a time. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const swap = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
