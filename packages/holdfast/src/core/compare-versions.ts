/**
 * Which of two versions is newer, as people write them: 2.10.0 is newer than 2.9.1, v3 than 2.9. Above 0: the
 * first. 0: they cannot be told apart, because they are equal or one of them has no numbers.
 */
export function compareVersions(a: string | null, b: string | null): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  if (left.length === 0 || right.length === 0) return 0;
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string | null): number[] {
  const [found] = /[0-9]+(?:\.[0-9]+)*/.exec(version ?? "") ?? [];
  return found === undefined ? [] : found.split(".").map(Number);
}
