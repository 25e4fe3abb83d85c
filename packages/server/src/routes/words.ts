/** Words that many schemas share. */
import { z } from "zod";

export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
export const STATUSES = ["queued", "processing", "succeeded", "dead", "cancelled"] as const;
/** The words of the systems that people come from. */
export const STATUS_ALIASES = {
  ...{ pending: "queued", waiting: "queued", delayed: "queued", active: "processing" },
  ...{ completed: "succeeded", failed: "dead" },
} as const;
export const CATEGORIES = [
  "rate_limit",
  "network",
  "auth",
  "validation",
  "timeout",
  "unknown",
] as const;
const MOST_MS = 10 * 365 * 86_400_000;

export const name = z.string().regex(NAME_PATTERN, "use 1 to 128 letters, digits and _ . : -");
/** No store takes a NUL in a text. */
const WITHOUT_NUL = /^[^\u0000]*$/u;
const plain = z.string().regex(WITHOUT_NUL, "a text has no NUL in it");
export const id = plain.min(1).max(64);
export const words = (most = 200) => plain.max(most);
export const instant = z.iso.datetime({ offset: true });
export const count = z.int().min(0);
export const durationMs = z.int().min(0).max(MOST_MS);
export const status = z.enum(STATUSES);
export const category = z.enum(CATEGORIES);
export const json = z.unknown();

/** Of every list. */
export const paging = {
  limit: z.int().min(1).max(200).optional().meta({ description: "1 to 200, default 50" }),
  cursor: plain.max(4096).optional().meta({ description: "nextCursor of the page before" }),
};

export function list<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** Why; who is known from the credentials. */
export const why = { reason: words(500).optional() };

export const done = z.strictObject({ done: z.literal(true) });
export const DONE = { done: true } as const;

export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

/** Without what is undefined: the library tells an option that is absent from one that is not. */
export function defined<Given extends object>(
  given: Given,
): { [Key in keyof Given]: Exclude<Given[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Given]: Exclude<Given[Key], undefined>;
  };
}
