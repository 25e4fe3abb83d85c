/** Numbers as people read them. What a store counts only so far is said to be more. */

/** A store counts so far where it says so, and no further. */
export const COUNTED_TO = 10_000;

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const two = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const one = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** 1204 → "1,204". */
export function count(value: number): string {
  return whole.format(value);
}

/** Of a number that is counted to ten thousand: "10k+". */
export function cappedCount(value: number): string {
  return value >= COUNTED_TO ? "10k+" : count(value);
}

/** Few characters, for the side: 48213 → "48k". */
export function shortCount(value: number): string {
  if (value < 1_000) return count(value);
  if (value < 10_000) return `${one.format(Math.floor(value / 100) / 10)}k`;
  if (value < 1_000_000) return `${count(Math.floor(value / 1_000))}k`;
  return `${one.format(Math.floor(value / 100_000) / 10)}M`;
}

/** Jobs a second, of a number in a minute: enough digits to be told apart. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  if (perSecond < 0.1) return perSecond.toFixed(2);
  if (perSecond < 1) return two.format(perSecond);
  if (perSecond < 10) return one.format(perSecond);
  return count(perSecond);
}

/** From 0 to 1. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1";
  return value >= 10 ? count(value) : one.format(value);
}

/** 1 → "1 job", 2 → "2 jobs". */
export function plural(value: number, single: string, many = `${single}s`): string {
  return `${count(value)} ${value === 1 ? single : many}`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let left = value;
  let at = 0;
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return `${left >= 10 || at === 0 ? count(left) : one.format(left)} ${units[at]}`;
}
