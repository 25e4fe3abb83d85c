/** A misspelt option that is silently ignored is the worst of all: it is refused with the name that was meant. */
import { InvalidOptionError } from "holdfast";

export function refuseUnknown(
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(
      `${what} takes an object of options: { ${allowed.slice(0, 3).join(", ")}, … }`,
    );
  }
  const unknown = Object.keys(given).find((name) => !allowed.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, allowed);
  throw new InvalidOptionError(
    `${what} has no option "${unknown.slice(0, 64)}": ` +
      (nearest === null ? `it takes ${allowed.join(", ")}` : `did you mean "${nearest}"?`),
  );
}

/** The name with the fewest edits, or null if none is near. */
export function nearestName(given: string, names: readonly string[]): string | null {
  const typed = given.slice(0, 64).toLowerCase();
  const most = Math.max(2, Math.floor(typed.length / 3));
  const ranked = names
    .map((name) => ({ name, edits: edits(typed, name.toLowerCase()) }))
    .filter((one) => one.edits <= most)
    .toSorted((one, other) => one.edits - other.edits);
  return ranked[0]?.name ?? null;
}

/** Levenshtein's, one row at a time. */
function edits(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= right.length; at += 1) {
      const change = left[row - 1] === right[at - 1] ? 0 : 1;
      const [insert = 0, remove = 0, swap = 0] = [current[at - 1], above[at], above[at - 1]];
      current.push(Math.min(insert + 1, remove + 1, swap + change));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
