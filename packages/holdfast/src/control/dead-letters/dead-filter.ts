/** Which dead jobs are meant: what the store can tell, and words in the message, which it cannot. */
import { InvalidOptionError } from "../../core/errors.ts";
import { ERROR_CATEGORIES, type ErrorCategory, type JobSummary } from "../../core/job.ts";
import { checkObject, checkOneOf, refuseUnknown } from "../../core/option-checks.ts";
import type { JobFilter } from "../../core/store.ts";

export interface DeadFilter {
  readonly fingerprint?: string | undefined;
  readonly type?: string | undefined;
  readonly queue?: string | undefined;
  readonly group?: string | undefined;
  readonly tag?: string | undefined;
  readonly category?: ErrorCategory | undefined;
  /** In the message of the last failure, in any case. */
  readonly text?: string | undefined;
  /** Died at or after. */
  readonly from?: Date | undefined;
  /** Died before. */
  readonly to?: Date | undefined;
}

export const DEAD_WORDS = ["fingerprint", "type", "queue", "group", "tag"] as const;
const OTHERS = ["category", "text", "from", "to"];

export interface CheckedFilter {
  readonly storeFilter: JobFilter;
  readonly isMeant: (job: JobSummary) => boolean;
}

export function checkDeadFilter(
  what: string,
  filter: DeadFilter,
  others: readonly string[] = [],
): CheckedFilter {
  checkObject(what, filter);
  refuseUnknown(what, filter, [...DEAD_WORDS, ...OTHERS, ...others]);
  const { category, text, from, to } = filter;
  const words: Record<string, string> = {};
  for (const word of DEAD_WORDS) {
    const value: unknown = filter[word];
    if (value === undefined) continue;
    if (typeof value !== "string") throw new InvalidOptionError(`${word} must be a text`);
    words[word] = value;
  }
  if (category !== undefined) checkOneOf("category", category, ERROR_CATEGORIES);
  if (text !== undefined && typeof text !== "string") {
    throw new InvalidOptionError("text must be a text");
  }
  const wanted = text?.toLowerCase();
  return {
    storeFilter: {
      status: ["dead"],
      ...words,
      ...(category !== undefined && { category }),
      ...(from !== undefined && { finishedFrom: timeOf("from", from) }),
      ...(to !== undefined && { finishedTo: timeOf("to", to) }),
    },
    isMeant: ({ error }) =>
      wanted === undefined || error?.message.toLowerCase().includes(wanted) === true,
  };
}

function timeOf(what: string, date: unknown): number {
  if (date instanceof Date && Number.isFinite(date.getTime())) return date.getTime();
  throw new InvalidOptionError(`${what} must be a valid Date`);
}
