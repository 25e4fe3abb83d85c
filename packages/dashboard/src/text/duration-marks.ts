/** Where an axis of durations has its lines: powers of ten up to ten seconds, and from there what people call them. */
const LADDER = [
  ...[0.1, 1, 10, 100, 1_000, 10_000],
  // A minute, ten, an hour, ten hours; days and tens of them.
  ...[60_000, 600_000, 3_600_000, 36_000_000, 345_600_000, 3_456_000_000],
];

/** From the last one that is not above the smallest value to the first that is not below the largest. */
export function durationMarks(minMs: number, maxMs: number): number[] {
  const from = Math.max(
    LADDER.findLastIndex((mark) => mark <= minMs),
    0,
  );
  const to = LADDER.findIndex((mark) => mark >= maxMs);
  // Two at least: one line alone is no scale.
  const last = to === -1 ? LADDER.length - 1 : Math.max(to, 1);
  return LADDER.slice(Math.min(from, last - 1), last + 1);
}
