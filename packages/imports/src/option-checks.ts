/** How options are judged here: as the library does it. */
import { InvalidOptionError } from "holdfast";

export function checkOptions(
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(
      `${what} takes an object of options: { ${allowed.slice(0, 4).join(", ")} }`,
    );
  }
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue;
    const nearest = nearestName(name, allowed);
    throw new InvalidOptionError(
      `${what} has no option "${name.slice(0, 64)}": ` +
        (nearest === null ? `it takes ${allowed.join(", ")}` : `did you mean "${nearest}"?`),
    );
  }
}

export function checkWhole(
  what: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw new InvalidOptionError(`${what} must be a whole number from ${min} to ${max}`);
}

export function checkText(what: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidOptionError(`${what} must be a text`);
}

/** The name that takes the fewest edits, or null if none is near. */
export function nearestName(word: string, names: Iterable<string>): string | null {
  const typed = word.slice(0, 64).toLowerCase();
  let nearest: string | null = null;
  let fewest = Math.max(2, Math.floor(typed.length / 2)) + 1;
  for (const name of names) {
    const known = name.slice(0, 64).toLowerCase();
    // "sheet" for "sheetName": a part of the name is near enough.
    const isPart = typed.length >= 3 && (known.startsWith(typed) || known.endsWith(typed));
    const edits = isPart ? 1 : editDistance(typed, known);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest;
}

/** Levenshtein's, one row at a time. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let at = 1; at <= right.length; at++) {
      const same = left[row - 1] === right[at - 1] ? 0 : 1;
      current.push(
        Math.min(
          (current[at - 1] as number) + 1,
          (above[at] as number) + 1,
          (above[at - 1] as number) + same,
        ),
      );
    }
    above = current;
  }
  return above[right.length] as number;
}
