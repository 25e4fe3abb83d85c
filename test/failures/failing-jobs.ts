/** Jobs that fail in twelve ways of five categories, until a file says that everything is mended. */
import { existsSync } from "node:fs";
import {
  PermanentError,
  type Holdfast,
  type RunningJob,
} from "../../packages/holdfast/src/index.ts";

export const QUEUE = "work";
export const TYPE = "work";

interface Fault {
  readonly category: string;
  readonly words: string;
  readonly evidence: object;
}

/** Each with words of its own; numbers, ids and hosts differ from job to job. */
export const FAULTS: readonly Fault[] = [
  {
    category: "network",
    words: "connection to the mail host lost",
    evidence: { code: "ECONNRESET" },
  },
  { category: "network", words: "the index answers nothing", evidence: { code: "ECONNREFUSED" } },
  { category: "network", words: "bad gateway of the shop", evidence: { status: 502 } },
  { category: "timeout", words: "the report took too long", evidence: { code: "ETIMEDOUT" } },
  { category: "timeout", words: "gateway gave up on billing", evidence: { status: 504 } },
  { category: "auth", words: "the calendar wants a login", evidence: { status: 401 } },
  { category: "auth", words: "no right to write contacts", evidence: { status: 403 } },
  { category: "validation", words: "the postcode is no postcode", evidence: { status: 422 } },
  { category: "validation", words: "the upload is gone", evidence: { code: "ENOENT" } },
  { category: "unknown", words: "cannot read the price", evidence: {} },
  { category: "unknown", words: "the template has no end", evidence: {} },
  { category: "unknown", words: "division of an empty cart", evidence: {} },
];

export function defineWork(hf: Holdfast, mendedBy: string): void {
  hf.define({
    ...{ type: TYPE, queue: QUEUE, retry: { maxAttempts: 1 } },
    run({ payload, id }: RunningJob<{ fault: number; at: number }>) {
      if (existsSync(mendedBy)) return;
      const { words, evidence } = FAULTS[payload.fault]!;
      const cause = Object.assign(new Error(words), evidence);
      throw new PermanentError(`${words}: job ${id} at 10.0.${payload.at % 250}.7:${payload.at}`, {
        cause,
      });
    },
  });
}
