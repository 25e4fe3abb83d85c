/** Which dead jobs are meant: what the store can tell, and words in the message, which it cannot. */
import { ERROR_CATEGORIES, type ErrorCategory, type JobSummary } from "../../core/job.ts";
import { checkDate, checkOneOf, checkOptions, checkText } from "../../core/option-checks.ts";
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
  checkOptions(what, filter, [...DEAD_WORDS, ...OTHERS, ...others]);
  const { category, text, from, to } = filter;
  const words: Record<string, string> = {};
  for (const word of DEAD_WORDS) {
    const value: unknown = filter[word];
    if (value === undefined) continue;
    words[word] = checkText(word, value);
  }
  if (category !== undefined) checkOneOf("category", category, ERROR_CATEGORIES);
  if (text !== undefined) checkText("text", text);
  const wanted = text?.toLowerCase();
  return {
    storeFilter: {
      status: ["dead"],
      ...words,
      ...(category !== undefined && { category }),
      ...(from !== undefined && { finishedFrom: checkDate("from", from) }),
      ...(to !== undefined && { finishedTo: checkDate("to", to) }),
    },
    isMeant: ({ error }) =>
      wanted === undefined || error?.message.toLowerCase().includes(wanted) === true,
  };
}
