import type { Connection } from "./connection.ts";

const NEXT_PRIO = `
  SELECT prio FROM holdfast_ready WHERE line = ? AND prio > ? ORDER BY prio LIMIT 1`;
const NEWEST = `
  SELECT seq FROM holdfast_ready WHERE line = ? AND prio = ? AND seq < ?
  ORDER BY seq DESC LIMIT ? + 0`;
const OLDEST = `
  SELECT seq FROM holdfast_ready WHERE line = ? AND prio = ? AND seq > ?
  ORDER BY seq LIMIT ? + 0`;

/**
 * The ready jobs of these lines by insertion, at most so many. Inside a line they stand by priority first,
 * so each priority gives its own first ones, and those are merged: the rest of a long line is not read.
 */
export function newestInLine(
  db: Connection,
  lines: readonly number[],
  how: {
    readonly order: "newest" | "oldest";
    readonly after: number | null;
    readonly atMost: number;
  },
): number[] {
  const isDown = how.order === "newest";
  const after = how.after ?? (isDown ? Number.MAX_SAFE_INTEGER : 0);
  const first = db.rows<[number]>(isDown ? NEWEST : OLDEST);
  const next = db.rows<[number]>(NEXT_PRIO);
  const seqs: number[] = [];
  for (const line of lines) {
    for (let prio = next.get(line, -1)?.[0]; prio !== undefined; prio = next.get(line, prio)?.[0]) {
      for (const [seq] of first.all(line, prio, after, how.atMost)) seqs.push(seq);
    }
  }
  return seqs.sort((a, b) => (isDown ? b - a : a - b)).slice(0, how.atMost);
}
