/** How long finished jobs stay, as it is shown in a field and read again: nothing is rounded, nothing left out. */
import { exactDuration, parseDuration } from "./times.ts";

export interface KeepRule {
  readonly maxAgeMs?: number | null;
  readonly maxCount?: number | null;
}

const FOR_EVER = "for ever";

/** Undefined, as nothing: what the general rule says. Null: for ever. */
export function keepingText(rule: KeepRule | null | undefined): string {
  if (rule === undefined) return "";
  if (rule === null) return FOR_EVER;
  const { maxAgeMs, maxCount } = rule;
  const parts = [
    ...(maxAgeMs == null ? [] : [exactDuration(maxAgeMs)]),
    ...(maxCount == null ? [] : [`at most ${maxCount}`]),
  ];
  return parts.length === 0 ? FOR_EVER : parts.join(", ");
}

/** "14 days", "at most 1000", "14 days, at most 1000", "for ever"; undefined where it is none of them. */
export function parseKeeping(text: string): KeepRule | null | undefined {
  if (text.trim() === FOR_EVER) return null;
  const found = /^\s*([^,]*?)\s*,?\s*(?:at most (\d{1,9}))?\s*$/.exec(text);
  if (found === null) return undefined;
  const [, age = "", most] = found;
  const maxAgeMs = age === "" ? null : parseDuration(age);
  if (age !== "" && (maxAgeMs ?? 0) <= 0) return undefined;
  if (maxAgeMs === null && most === undefined) return undefined;
  return {
    ...(maxAgeMs !== null && { maxAgeMs }),
    ...(most !== undefined && { maxCount: Number(most) }),
  };
}
