/**
 * What clocks on the wall show in a time zone, from the zone data that comes with the runtime (`Intl`).
 *
 * Time is cut into pages of four days. The offset from UTC is asked for at both ends of a page: since 1970
 * no zone changed its clocks twice within seven days, so that equal ends mean one offset, and different ends
 * mean one change between them, found by halving. Pages are kept: the next question costs no call of Intl.
 */
import { DAY_MS } from "./cron-calendar.ts";
import { InvalidOptionError } from "./errors.ts";
import { nearestWord } from "./option-checks.ts";
import { show } from "./text.ts";

/** From one instant to just before another the clocks show the instant plus the offset. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

export const UTC = "UTC";

const PAGE_MS = 4 * DAY_MS;
/** A page is about 100 bytes. Two years of them; a search beyond that starts anew. */
const MAX_PAGES = 200;
/** More than there are zones: only spellings (`europe/berlin`) and offsets (`+01:23`) can exceed it. */
const MAX_ZONES = 1000;

/** The second stretch begins where the clocks are changed. */
type Page = readonly [Stretch, Stretch | null];

/**
 * Abbreviations that ICU takes and the zone database does not know. They mean several places each: a
 * caller in London who writes BST would get the time of Bangladesh.
 */
const AMBIGUOUS = new Set(
  (
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT " +
    "IET IST JST MIT NET NST PLT PNT PRT PST SST VST"
  ).split(" "),
);

const ALWAYS_UTC: Stretch = { from: -Infinity, to: Infinity, offset: 0 };

export class ZoneClock {
  readonly #format: Intl.DateTimeFormat | null;
  readonly #pages = new Map<number, Page>();

  /** Null is UTC, whose clocks need no asking. */
  constructor(format: Intl.DateTimeFormat | null) {
    this.#format = format;
  }

  /** The stretch that this instant lies in. Where a page ends, another may go on with the same offset. */
  stretchAt(at: number): Stretch {
    if (this.#format === null) return ALWAYS_UTC;
    const number = Math.floor(at / PAGE_MS);
    const [first, second] = this.#pages.get(number) ?? this.#readPage(this.#format, number);
    return second === null || at < first.to ? first : second;
  }

  #readPage(format: Intl.DateTimeFormat, number: number): Page {
    const from = number * PAGE_MS;
    const to = from + PAGE_MS;
    const before = offsetAt(format, from);
    const after = offsetAt(format, to);
    const change = before === after ? to : changeBetween(format, from, to);
    const page: Page = [
      { from, to: change, offset: before },
      change === to ? null : { from: change, to, offset: after },
    ];
    if (this.#pages.size >= MAX_PAGES) this.#pages.clear();
    this.#pages.set(number, page);
    return page;
  }
}

/** The second in which the offset is another one for the first time. */
function changeBetween(format: Intl.DateTimeFormat, from: number, to: number): number {
  const before = offsetAt(format, from);
  let same = from / 1000;
  let other = to / 1000;
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(format, middle * 1000) === before) same = middle;
    else other = middle;
  }
  return other * 1000;
}

function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const shown: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) shown[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - at;
}

const clocks = new Map<string, ZoneClock>();

/** Throws `InvalidOptionError` if there is no such zone. */
export function zoneClock(timeZone: string): ZoneClock {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const clock = new ZoneClock(timeZone === UTC ? null : formatFor(timeZone));
  if (clocks.size >= MAX_ZONES) clocks.clear();
  clocks.set(timeZone, clock);
  return clock;
}

/** The zone as it was given. Throws `InvalidOptionError` with the nearest name if there is no such zone. */
export function checkTimeZone(timeZone: unknown = UTC): string {
  zoneClock(timeZone as string);
  return timeZone as string;
}

function formatFor(timeZone: unknown): Intl.DateTimeFormat {
  try {
    if (typeof timeZone === "string" && !AMBIGUOUS.has(timeZone.toUpperCase())) {
      return new Intl.DateTimeFormat("en-US", {
        timeZone,
        calendar: "gregory",
        numberingSystem: "latn",
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    }
  } catch {
    // A RangeError that does not say what would be right.
  }
  const names = [UTC, ...Intl.supportedValuesOf("timeZone")];
  // What is near to three letters is near by accident.
  const isName = typeof timeZone === "string" && timeZone.length > 3;
  const nearest = isName ? nearestWord(timeZone, names) : null;
  throw new InvalidOptionError(
    `timeZone must be a name such as "Europe/Berlin" or "UTC", not ${show(timeZone)}` +
      (nearest === null ? "" : `: did you mean "${nearest}"?`),
  );
}
