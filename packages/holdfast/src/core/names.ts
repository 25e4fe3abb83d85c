/**
 * Names, keys and tags: what callers call things. One narrow pattern for names, so that a name is
 * safe in SQL, in Redis keys, in URLs and in file names without any escaping.
 */
import { InvalidNameError } from "./errors.ts";
import { hasControl, show } from "./text.ts";

export type NameKind =
  "queue" | "type" | "group" | "owner" | "preset" | "schedule" | "gate" | "lock";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

export const MAX_KEY_CHARS = 512;
export const MAX_TAGS = 20;
export const MAX_TAG_CHARS = 128;

export function checkName(kind: NameKind, value: unknown): string {
  if (typeof value === "string" && NAME.test(value)) return value;
  throw new InvalidNameError(
    `${show(value)} cannot be the name of ${ARTICLE[kind]}: use 1 to 128 letters, digits and ` +
      `_ . : - and begin with a letter or a digit`,
  );
}

const ARTICLE: Record<NameKind, string> = {
  queue: "a queue",
  type: "a job type",
  group: "a group",
  owner: "the owner of a hold",
  preset: "a preset",
  schedule: "a schedule",
  gate: "a gate",
  lock: "a lock",
};

/** An idempotency key: the caller's own words, so almost anything printable. */
export function checkKey(value: unknown): string {
  return checkLabel("an idempotency key", value, MAX_KEY_CHARS);
}

/** The key of an application's record: its own words, too. */
export function checkRecordKey(value: unknown): string {
  return checkLabel("the key of a record", value, MAX_KEY_CHARS);
}

/** Without repetitions, in the order given. */
export function checkTags(value: unknown): readonly string[] {
  if (!Array.isArray(value)) {
    throw new InvalidNameError(`tags must be an array of strings, not ${show(value)}`);
  }
  const tags = new Set<string>();
  for (const tag of value as unknown[]) {
    tags.add(checkLabel("a tag", tag, MAX_TAG_CHARS));
    if (tags.size > MAX_TAGS) throw new InvalidNameError(`a job takes at most ${MAX_TAGS} tags`);
  }
  return [...tags];
}

/** The caller's own words: almost anything printable. */
export function checkLabel(what: string, value: unknown, maxChars: number): string {
  if (typeof value !== "string") {
    throw new InvalidNameError(`${what} must be a string, not ${show(value)}`);
  }
  if (value.length === 0 || value.length > maxChars) {
    throw new InvalidNameError(
      `${what} must have 1 to ${maxChars} characters, not ${value.length}: ` +
        `shorten it, or use a hash of it`,
    );
  }
  if (hasControl(value) || !value.isWellFormed()) {
    throw new InvalidNameError(
      `${what} must not contain control characters or broken unicode: ${show(value)}`,
    );
  }
  return value;
}
