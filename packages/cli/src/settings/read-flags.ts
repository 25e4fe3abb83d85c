/** What people type on the command line, read or refused in words. */
import { InvalidArgumentError } from "commander";

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
};

/** `90s`, `5m`, `2h`, `3d`, `250ms`. */
export function readDuration(text: string): number {
  const [, number, unit] = DURATION.exec(text.trim()) ?? [];
  const ms = Number(number) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new InvalidArgumentError("It takes a duration such as 90s, 5m, 2h or 3d.");
}

export interface ReadRate {
  readonly limit: number;
  readonly perMs: number;
  readonly burst?: number;
}

const RATE = /^(\d+)\/((?:\d+(?:\.\d+)?)?(?:ms|s|m|h|d))(?:\+(\d+))?$/;

/** `80/10s`, `5/s`; `80/10s+20` lets 20 more go at once after a quiet time. */
export function readRate(text: string): ReadRate {
  const [, limit, per = "", burst] = RATE.exec(text.trim()) ?? [];
  if (limit === undefined) {
    throw new InvalidArgumentError(
      "It takes so many in so long, such as 80/10s or 5/s; 80/10s+20 lets 20 more go at once.",
    );
  }
  const perMs = readDuration(/^\d/.test(per) ? per : `1${per}`);
  return { limit: Number(limit), perMs, ...(burst !== undefined && { burst: Number(burst) }) };
}

/** A date, or how long ago. */
export function readSince(text: string): Date {
  if (DURATION.test(text.trim())) return new Date(Date.now() - readDuration(text));
  return readDate(text);
}

/** A date, or in how long. */
export function readWhen(text: string): Date {
  if (DURATION.test(text.trim())) return new Date(Date.now() + readDuration(text));
  return readDate(text);
}

function readDate(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d\d/.test(text) && Number.isFinite(date.getTime())) return date;
  throw new InvalidArgumentError(
    "It takes a date such as 2026-11-18T09:00:00Z, or a duration such as 2h.",
  );
}

export function readWhole(text: string): number {
  if (/^\d+$/.test(text.trim())) return Number(text);
  throw new InvalidArgumentError("It takes a whole number.");
}

export const NONE = "none";

/** A number, or `none` to take the bound away. The parser would take null for a flag without a value. */
export function readBound(text: string): number | typeof NONE {
  return text === NONE ? NONE : readWhole(text);
}

export function readShare(text: string): number {
  const number = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (number > 0 && number <= 1) return number;
  throw new InvalidArgumentError("It takes a share such as 0.5 or 50%.");
}
