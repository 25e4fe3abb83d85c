/** How work is spread over a span of time: what a caller writes, and the curve that it means. */
import { InvalidOptionError } from "holdfast";
import { Curve, type Piece } from "./curve.ts";
import { checkNumber, checkOneOf, checkOptions, checkWhole, shown } from "./option-checks.ts";
import { Zone, zonedPieces } from "./zone-hours.ts";

export type Distribution =
  /** The same at all times. */
  | { readonly shape: "uniform" }
  /** Straight from one weight to another. Default from 0 to 1. */
  | { readonly shape: "linear"; readonly from?: number; readonly to?: number }
  /** Most of it at the beginning. */
  | { readonly shape: "front-loaded" }
  /** Most of it at the end. */
  | { readonly shape: "back-loaded" }
  /** Most of it in the middle. */
  | { readonly shape: "bell" }
  /** Only while people work. Default: Monday to Friday, 9 to 17. */
  | {
      readonly shape: "business-hours";
      readonly timeZone: string;
      /** 0 is Sunday. */
      readonly days?: readonly number[];
      readonly fromHour?: number;
      readonly toHour?: number;
    }
  /** A weight for each day of the week (Sunday first), and for each hour of a day. */
  | {
      readonly shape: "weekly";
      readonly timeZone: string;
      readonly days: readonly number[];
      readonly hours?: readonly number[];
    }
  /** Equal parts of the span, each with its weight. */
  | { readonly shape: "weights"; readonly weights: readonly number[] }
  /** Straight lines between points: `at` from 0 (start) to 1 (end). */
  | {
      readonly shape: "points";
      readonly points: readonly { readonly at: number; readonly weight: number }[];
    };

export const SHAPES = [
  ...(["uniform", "linear", "front-loaded", "back-loaded", "bell"] as const),
  ...(["business-hours", "weekly", "weights", "points"] as const),
] as const;

/** So many straight pieces stand for a bent shape. */
const BENT_PIECES = 64;
const MOST_PARTS = 10_000;
const MOST_WEIGHT = 1_000_000;

/** Throws `InvalidOptionError` with the field. Also for a span in which nothing has a weight. */
export function curveOf(given: unknown, span: { readonly start: number; readonly end: number }) {
  return new Curve(piecesOf(given, span));
}

function piecesOf(
  given: unknown,
  { start, end }: { readonly start: number; readonly end: number },
): readonly Piece[] {
  const { shape } = Object(given) as { readonly shape?: unknown };
  const field = "distribution";
  switch (checkOneOf("distribution.shape", shape, SHAPES)) {
    case "uniform":
      checkOptions(field, given, ["shape"]);
      return [{ from: 0, to: 1, first: 1, last: 1 }];
    case "linear": {
      checkOptions(field, given, ["shape", "from", "to"]);
      const { from = 0, to = 1 } = given as { from?: number; to?: number };
      const [first, last] = [weight("distribution.from", from), weight("distribution.to", to)];
      return [{ from: 0, to: 1, first, last }];
    }
    case "front-loaded":
      checkOptions(field, given, ["shape"]);
      return bent((x) => (1 - x) * (1 - x));
    case "back-loaded":
      checkOptions(field, given, ["shape"]);
      return bent((x) => x * x);
    case "bell":
      checkOptions(field, given, ["shape"]);
      return bent((x) => x * x * (1 - x) * (1 - x));
    case "business-hours":
      return businessHours(given, start, end);
    case "weekly":
      return weekly(given, start, end);
    case "weights":
      return weighted(given);
    case "points":
      return pointed(given);
  }
}

/** A shape of polynomials, in straight pieces: powers and exponentials differ from machine to machine. */
function bent(density: (x: number) => number): Piece[] {
  return Array.from({ length: BENT_PIECES }, (_, at) => {
    const [from, to] = [at / BENT_PIECES, (at + 1) / BENT_PIECES];
    return { from, to, first: density(from), last: density(to) };
  });
}

function businessHours(given: unknown, start: number, end: number): Piece[] {
  checkOptions("distribution", given, ["shape", "timeZone", "days", "fromHour", "toHour"]);
  const options = given as Extract<Distribution, { shape: "business-hours" }>;
  const { days = [1, 2, 3, 4, 5], fromHour = 9, toHour = 17 } = options;
  const list = parts("distribution.days", days, 7);
  for (const day of list) checkWhole("a day of distribution.days", day, 0, 6);
  checkNumber("distribution.fromHour", fromHour, 0, 24);
  checkNumber("distribution.toHour", toHour, 0, 24);
  if (toHour <= fromHour || (fromHour * 4) % 1 !== 0 || (toHour * 4) % 1 !== 0) {
    throw new InvalidOptionError(
      "distribution.toHour comes after fromHour, both at quarters of an hour: 9 and 17.5",
    );
  }
  const zone = new Zone(options.timeZone);
  return zonedPieces({ start, end, zone }, (weekday, minute) =>
    list.includes(weekday) && minute >= fromHour * 60 && minute < toHour * 60 ? 1 : 0,
  );
}

function weekly(given: unknown, start: number, end: number): Piece[] {
  checkOptions("distribution", given, ["shape", "timeZone", "days", "hours"]);
  const options = given as Extract<Distribution, { shape: "weekly" }>;
  const days = weights("distribution.days", options.days, 7);
  const hours =
    options.hours === undefined ? null : weights("distribution.hours", options.hours, 24);
  const zone = new Zone(options.timeZone);
  return zonedPieces(
    { start, end, zone },
    (weekday, minute) => days[weekday]! * (hours?.[Math.floor(minute / 60)] ?? 1),
  );
}

function weighted(given: unknown): Piece[] {
  checkOptions("distribution", given, ["shape", "weights"]);
  const list = weights("distribution.weights", (given as { weights?: unknown }).weights);
  return list.map((level, at) => ({
    ...{ from: at / list.length, to: (at + 1) / list.length, first: level, last: level },
  }));
}

function pointed(given: unknown): Piece[] {
  checkOptions("distribution", given, ["shape", "points"]);
  const list = parts<{ at: number; weight: number }>(
    "distribution.points",
    (given as { points?: unknown }).points,
  );
  list.forEach((point, at) => {
    checkOptions(`distribution.points[${at}]`, point, ["at", "weight"]);
    checkNumber(`distribution.points[${at}].at`, point.at, 0, 1);
    weight(`distribution.points[${at}].weight`, point.weight);
  });
  const isRising = list.every(({ at }, index) => index === 0 || at > list[index - 1]!.at);
  if (list.length < 2 || !isRising || list[0]!.at !== 0 || list.at(-1)!.at !== 1) {
    throw new InvalidOptionError(
      "distribution.points begins at 0, ends at 1 and rises: [{ at: 0, weight: 1 }, { at: 1, weight: 3 }]",
    );
  }
  return list.slice(1).map((to, index) => {
    const from = list[index]!;
    return { from: from.at, to: to.at, first: from.weight, last: to.weight };
  });
}

function weight(what: string, value: unknown): number {
  return checkNumber(what, value, 0, MOST_WEIGHT);
}

function weights(what: string, given: unknown, length?: number): number[] {
  const list = parts<number>(what, given);
  if (length !== undefined && list.length !== length) {
    throw new InvalidOptionError(`${what} has ${length} weights, not ${list.length}`);
  }
  return list.map((one, at) => weight(`${what}[${at}]`, one));
}

function parts<Part = number>(what: string, given: unknown, most = MOST_PARTS): Part[] {
  if (Array.isArray(given) && given.length > 0 && given.length <= most) return given as Part[];
  throw new InvalidOptionError(`${what} is a list of 1 to ${most}, not ${shown(given)}`);
}
