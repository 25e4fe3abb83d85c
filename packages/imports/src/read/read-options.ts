/** The options of a reader, checked before a thread is started for them. */
import { InvalidOptionError } from "holdfast";
import type { ReadPlan } from "./read-plan.ts";
import type { ReadLimits, ReadOptions } from "./sheet.ts";

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ReadLimits = {
  fileBytes: 20 * MIB,
  unpackedBytes: 256 * MIB,
  rows: 500_000,
  columns: 200,
  // What a cell of Excel can hold.
  cellCharacters: 32_767,
  stringBytes: 32 * MIB,
};

/** What can be asked for at most: past these a reader would not be bounded. */
const MOST: ReadLimits = {
  fileBytes: 2_048 * MIB,
  unpackedBytes: 8_192 * MIB,
  rows: 1_048_576,
  columns: 16_384,
  cellCharacters: 1_000_000,
  stringBytes: 1_024 * MIB,
};

export function checkReadOptions(options: ReadOptions): ReadPlan {
  known("openSheet", options, ["sheet", "headerRow", "limits", "csv", "signal"]);
  const { sheet = null, headerRow = null, limits = {}, csv = {}, signal } = options;
  known("limits", limits, Object.keys(DEFAULT_LIMITS));
  known("csv", csv, ["separator", "encoding"]);
  if (typeof sheet === "number") whole("sheet", sheet, 0, 10_000);
  else if (sheet !== null && (typeof sheet !== "string" || sheet === "")) {
    throw new InvalidOptionError("sheet is the name of a sheet, or its index from 0");
  }
  if (headerRow !== null) whole("headerRow", headerRow, 1, MOST.rows);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidOptionError("signal is an AbortSignal");
  }
  return {
    ...{ sheet, headerRow, limits: checkLimits(limits) },
    ...{ separator: checkSeparator(csv.separator), encoding: checkEncoding(csv.encoding) },
  };
}

function checkLimits(given: Partial<ReadLimits>): ReadLimits {
  const limits: Record<keyof ReadLimits, number> = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof ReadLimits)[]) {
    const limit = given[name];
    if (limit !== undefined) limits[name] = whole(`limits.${name}`, limit, 1, MOST[name]);
  }
  return limits;
}

function checkSeparator(separator: unknown): string | null {
  if (separator === undefined) return null;
  const isOne = typeof separator === "string" && separator.length === 1;
  if (isOne && !/["\r\n]/.test(separator)) return separator;
  throw new InvalidOptionError('csv.separator is one character: ",", ";", "|" or a tab');
}

/** By the name that `TextDecoder` knows it by. */
function checkEncoding(encoding: unknown): string | null {
  if (encoding === undefined) return null;
  try {
    if (typeof encoding === "string") return new TextDecoder(encoding).encoding;
  } catch {
    // Said below.
  }
  throw new InvalidOptionError(
    `csv.encoding is the name of an encoding ("utf-8", "windows-1252", "utf-16le"), not ${shown(encoding)}`,
  );
}

function whole(what: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw new InvalidOptionError(
    `${what} is a whole number from ${min} to ${max}, not ${shown(value)}`,
  );
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.slice(0, 64);
}

/** An option that is misspelt and ignored is one that its caller believes to be set. */
export function known(what: string, given: unknown, allowed: readonly string[]): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(`${what} takes an object: { ${allowed.join(", ")} }`);
  }
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue;
    const near = allowed.find((one) => isNear(name.toLowerCase(), one.toLowerCase()));
    const advice =
      near === undefined ? `it takes ${allowed.join(", ")}` : `did you mean "${near}"?`;
    throw new InvalidOptionError(`${what} has no option ${shown(name)}: ${advice}`);
  }
}

/** A part of the name, or the same but for two letters. */
function isNear(given: string, name: string): boolean {
  if (given.length >= 3 && (name.includes(given) || given.includes(name))) return true;
  let shared = 0;
  while (shared < given.length && given[shared] === name[shared]) shared += 1;
  let tail = 0;
  const most = Math.min(given.length, name.length) - shared;
  while (tail < most && given.at(-1 - tail) === name.at(-1 - tail)) tail += 1;
  return Math.max(given.length, name.length) - shared - tail <= 2;
}
