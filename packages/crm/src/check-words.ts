/** Options are refused by name: a word that is misspelt must not be passed over. */
import { InvalidOptionError } from "holdfast";

export function checkWords(what: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(`${what} takes an object of options`);
  }
  for (const word of Object.keys(given)) {
    if (known.includes(word)) continue;
    const near = nearest(word, known);
    throw new InvalidOptionError(
      `${what} has no option "${word}"` +
        (near === null ? `: it has ${known.join(", ")}` : `: did you mean "${near}"?`),
    );
  }
}

/** The word that was probably meant. */
export function nearest(word: string, known: readonly string[]): string | null {
  const ranked = known
    .map((one) => ({ one, far: distance(word.toLowerCase(), one.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  const [best] = ranked;
  return best !== undefined && best.far <= Math.max(1, Math.floor(best.one.length / 3))
    ? best.one
    : null;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + cost));
    }
    row = next;
  }
  return row.at(-1)!;
}
