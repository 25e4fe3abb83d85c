/** Which jobs are meant, as a query says it. */
import type { Holdfast, JobListing, JobsFilter } from "holdfast";
import { z } from "zod";
import { invalid } from "../http/http-error.ts";
import {
  category,
  dateOf,
  defined,
  instant,
  name,
  STATUS_ALIASES,
  STATUSES,
  words,
} from "./words.ts";

const aliases = Object.keys(STATUS_ALIASES) as (keyof typeof STATUS_ALIASES)[];
const statusWord = z.enum([...STATUSES, ...aliases]);

/** Shared by lists, which have them in their query, and operations, which have them in their body. */
export const jobFilter = {
  status: z.array(statusWord).max(10).optional().meta({
    description: "one or several; also pending, waiting, delayed, active, completed, failed",
  }),
  delayed: z.boolean().optional(),
  retrying: z.boolean().optional(),
  queue: name.optional(),
  group: z.union([name, z.literal("")]).optional(),
  type: name.optional(),
  tag: words(128).optional(),
  category: category.optional(),
  fingerprint: words(128).optional(),
  worker: words(300).optional(),
  from: instant.optional().meta({ description: "created at or after" }),
  to: instant.optional().meta({ description: "created before" }),
  finishedFrom: instant.optional(),
  finishedTo: instant.optional(),
};

type Given = z.output<z.ZodObject<typeof jobFilter>>;

export function filterOf(given: Given): JobsFilter {
  const { status, delayed, from, to, finishedFrom, finishedTo, ...rest } = given;
  const isDelayed = status?.includes("delayed")
    ? true
    : status?.includes("waiting")
      ? false
      : undefined;
  if (status && isDelayed !== undefined && status.length > 1) {
    const message = "waiting and delayed stand alone: they say when a job is due";
    throw invalid([{ path: "query.status", message }]);
  }
  const statuses = status?.map((one) =>
    Object.hasOwn(STATUS_ALIASES, one) ? STATUS_ALIASES[one as keyof typeof STATUS_ALIASES] : one,
  ) as JobsFilter["status"];
  return defined({
    ...rest,
    status: statuses,
    delayed: delayed ?? isDelayed,
    from: dateOf(from),
    to: dateOf(to),
    finishedFrom: dateOf(finishedFrom),
    finishedTo: dateOf(finishedTo),
  });
}

/** Hosts' clocks differ: a job may have been stored so much before or after the time in its id. */
const AROUND_MS = 3_600_000;

/**
 * The ids of jobs begin with the time at which they were made. So the beginning of one says when to look, and a
 * look is short however many jobs there are.
 */
export function timesOfPrefix(prefix: string): { readonly from: Date; readonly to: Date } {
  const digits = prefix.replaceAll("-", "").toLowerCase();
  const most = (fill: string) => Number.parseInt(digits.slice(0, 12).padEnd(12, fill), 16);
  return { from: new Date(most("0") - AROUND_MS), to: new Date(most("f") + AROUND_MS) };
}

/** In what is shown: who may search in what is hidden can find it, letter by letter. */
export function hasText({ tools }: Holdfast, text: string): (job: JobListing) => boolean {
  const wanted = text.toLowerCase();
  return ({ error }) =>
    error !== null && tools.redact.text(error.message).toLowerCase().includes(wanted);
}
