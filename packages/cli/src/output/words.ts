/** Times, durations and numbers as people read them. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** `3d 4h`, `12m 5s`, `340ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const at = UNITS.findIndex(([, length]) => ms >= length);
  const [unit, length] = UNITS[at] ?? ["s", 1_000];
  const whole = Math.floor(ms / length);
  const next = UNITS[at + 1];
  if (next === undefined) {
    return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}${unit}` : `${whole}${unit}`;
  }
  const rest = Math.floor((ms - whole * length) / next[1]);
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit} ${rest}${next[0]}`;
}

/** `5m ago`, `in 2h`, `now`. */
export function ago(date: Date | null, now: number): string {
  if (date === null) return "";
  const ms = now - date.getTime();
  if (Math.abs(ms) < 1_000) return "now";
  return ms > 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`;
}

export function instant(date: Date | null): string {
  return date === null
    ? ""
    : date
        .toISOString()
        .replace("T", " ")
        .replace(/\.\d+Z$/, "Z");
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 job`, `2 jobs`. */
export function many(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function bytes(number: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [value, at] = [number, 0];
  while (value >= 1024 && at < units.length - 1) [value, at] = [value / 1024, at + 1];
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}
