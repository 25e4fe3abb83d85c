/** Who does something and why, as people say it; cleaned and cut, so that every store takes it. */
import { checkOptions } from "./option-checks.ts";
import type { Why } from "./store-calls.ts";
import { cleanText } from "./text.ts";

export interface WhyOptions {
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

export function checkWhy(what: string, why: WhyOptions): Why {
  checkOptions(what, why, ["reason", "by"]);
  const { reason, by } = why;
  return {
    reason: reason === undefined ? null : cleanText(reason, 500),
    by: by === undefined ? null : cleanText(by, 200),
  };
}
