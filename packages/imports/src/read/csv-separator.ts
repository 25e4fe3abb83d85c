/** What separates the fields of a text: the character that divides most of its first records alike. */
import { CsvRecords } from "./csv-records.ts";

export const SEPARATORS = [",", ";", "\t", "|"] as const;
const LOOKED_RECORDS = 30;
const NO_LIMITS = { columns: Number.MAX_SAFE_INTEGER, cellCharacters: Number.MAX_SAFE_INTEGER };

export function separatorOf(sample: string): string {
  let best: string = SEPARATORS[0];
  let most = 0;
  for (const separator of SEPARATORS) {
    const score = scoreOf(sample, separator);
    if (score <= most) continue;
    best = separator;
    most = score;
  }
  return best;
}

/** The share of records that have as many fields as most have, and a little for more of them. */
function scoreOf(sample: string, separator: string): number {
  const counts = fieldCounts(sample, separator);
  const times = new Map<number, number>();
  for (const count of counts) times.set(count, (times.get(count) ?? 0) + 1);
  let usual = 0;
  for (const [count, seen] of times) {
    if (count > 1 && seen >= (times.get(usual) ?? 0)) usual = count;
  }
  if (usual < 2) return 0;
  return times.get(usual)! / counts.length + Math.min(usual, 1_000) / 1_000_000;
}

/** Of records that have a value. The last one may be cut off by the end of the sample. */
function fieldCounts(sample: string, separator: string): readonly number[] {
  const records = new CsvRecords(separator, NO_LIMITS);
  const counts: number[] = [];
  records.feed(sample.endsWith("\n") || !sample.includes("\n") ? `${sample}\n` : sample);
  for (let left = sample.length * 2 + 2; left > 0 && counts.length < LOOKED_RECORDS; left -= 1) {
    const { row } = records;
    if (records.isDone) break;
    records.step();
    if (records.row === row) continue;
    if (records.take().length > 0) counts.push(records.fields);
  }
  return counts;
}
