/** Local days and hours of a zone over a span of time, as a density wants them. */
import { InvalidOptionError } from "holdfast";
import type { Piece } from "./curve.ts";
import { shown } from "./option-checks.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Two years: beyond it the pieces of an hourly shape would be more than a process should keep. */
export const LONGEST_ZONED_MS = 2 * 366 * DAY;

export class Zone {
  readonly #format: Intl.DateTimeFormat;

  constructor(name: unknown) {
    if (typeof name !== "string" || name === "") {
      throw new InvalidOptionError(
        `timeZone must be the name of a zone, for example "Europe/Berlin", not ${shown(name)}`,
      );
    }
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        ...{ timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
        ...{ hour: "numeric", minute: "numeric", second: "numeric" },
      });
    } catch (error) {
      throw new InvalidOptionError(
        `timeZone ${shown(name)} is not known here: take a name such as "Europe/Berlin" or "UTC"`,
        { cause: error },
      );
    }
  }

  /** How far local clocks are ahead of UTC, in milliseconds. */
  offsetAt(at: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const local = Date.UTC(year, month - 1, day, hour, minute, second);
    return local - Math.floor(at / 1000) * 1000;
  }
}

/**
 * A piece of level density for each stretch of `[start, end)` whose minutes weigh the same. `weightOf` gets the
 * local day of the week (0 is Sunday) and the minute of the day; it changes at quarters of an hour only.
 */
export function zonedPieces(
  span: { readonly start: number; readonly end: number; readonly zone: Zone },
  weightOf: (weekday: number, minute: number) => number,
): Piece[] {
  const { start, end, zone } = span;
  if (end - start > LONGEST_ZONED_MS) {
    throw new InvalidOptionError("a distribution by local hours spans at most two years");
  }
  const pieces: Piece[] = [];
  let from = start;
  let weight = -1;
  const close = (to: number) => {
    if (to <= from) return;
    const level = { first: weight, last: weight };
    pieces.push({
      from: (from - start) / (end - start),
      to: (to - start) / (end - start),
      ...level,
    });
  };
  for (const { at, offset } of quarters(start, end, zone)) {
    const local = at + offset;
    const weekday = (Math.floor(local / DAY) + 4) % 7;
    const next = weightOf(weekday, Math.floor((((local % DAY) + DAY) % DAY) / MINUTE));
    if (next === weight) continue;
    close(at);
    [from, weight] = [at, next];
  }
  close(end);
  return pieces;
}

/** Quarters of an hour that begin in the span, and its start. Offsets are asked for where they may change. */
function* quarters(start: number, end: number, zone: Zone) {
  const step = HOUR / 4;
  let day = start;
  while (day < end) {
    const next = Math.min(end, Math.floor(day / DAY) * DAY + DAY);
    const offset = zone.offsetAt(day);
    const isSteady = offset === zone.offsetAt(next);
    for (let at = day; at < next; at = Math.floor(at / step) * step + step) {
      yield { at, offset: isSteady ? offset : zone.offsetAt(at) };
    }
    day = next;
  }
}
