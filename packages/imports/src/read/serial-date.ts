/**
 * A spreadsheet keeps a date as a number of days. It has no zone, so it is given as ISO text without one: a `Date`
 * would be shifted by the zone of whichever machine reads it.
 */
import type { FormatKind } from "./number-format.ts";

const DAY_MS = 86_400_000;
/** 31 December 9999: Excel shows no later day. */
const LAST_DAY = 2_958_465;
const DAYS_BETWEEN_SYSTEMS = 1_462;
/** From 1 March of the year 0, where leap days are at the end of years, to 30 December 1899. */
const DAYS_TO_1899_12_30 = 693_899;

/** A number that is no date under its format stays the number that it is. */
export function dateText(serial: number, kind: FormatKind, is1904: boolean): string | number {
  if (kind === "number") return serial;
  const milliseconds = Math.round(serial * DAY_MS);
  if (kind === "elapsed") return Math.abs(serial) > LAST_DAY ? serial : clock(milliseconds);
  const days = Math.floor(milliseconds / DAY_MS);
  const rest = milliseconds - days * DAY_MS;
  // Below the first day there is only a time.
  if (days === 0 && (!is1904 || kind === "time")) return clock(rest);
  const inSystem1900 = is1904 ? days + DAYS_BETWEEN_SYSTEMS : days;
  if (serial < 0 || inSystem1900 > LAST_DAY) return serial;
  const day = dayText(inSystem1900);
  return rest === 0 ? day : `${day}T${clock(rest)}`;
}

/**
 * Lotus took 1900 for a leap year, and Excel kept its numbers: day 60 is one that never was. The rest is counted, which is
 * many times faster than a `Date`: years begin in March, so that the months before have a fixed number of days.
 */
function dayText(days: number): string {
  if (days === 60) return "1900-02-29";
  const since = DAYS_TO_1899_12_30 + (days < 60 ? days + 1 : days);
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) /
      365,
  );
  const ofYear =
    ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year}-${two(month)}-${two(day)}`;
}

function clock(milliseconds: number): string {
  const sign = milliseconds < 0 ? "-" : "";
  const rest = Math.abs(milliseconds);
  const hours = Math.floor(rest / 3_600_000);
  const text = `${sign}${two(hours)}:${two(Math.floor(rest / 60_000) % 60)}:${two(Math.floor(rest / 1_000) % 60)}`;
  const fraction = rest % 1_000;
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(3, "0")}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** By hand: an expression that ends in zeros begins anew at each of them. */
function withoutZeros(fraction: string): string {
  let to = fraction.length;
  while (fraction[to - 1] === "0") to -= 1;
  return to === 1 ? "" : fraction.slice(0, to);
}

/** A cell of type `d` has ISO text already, perhaps with a zone that a sheet does not have. */
export function isoCell(text: string): string {
  return text
    .trim()
    .replace(/(?:Z|[+-]\d\d:\d\d)$/, (zone, at: number) => (at > 7 ? "" : zone))
    .replace(/\.\d*$/, withoutZeros)
    .replace(/T00:00(:00)?$/, "")
    .replace(/^T(?=\d\d:)/, "");
}
