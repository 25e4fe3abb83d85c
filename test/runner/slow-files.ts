/** The files that took longest, for whoever wonders where the minutes went. */
export interface TimedFile {
  readonly file: string;
  readonly ms: number;
}

export function slowest(files: readonly TimedFile[], count: number): string[] {
  const first = files.toSorted((a, b) => b.ms - a.ms).slice(0, count);
  return first.map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
}
