/** Operations and plans, as requests and answers have them. */
import type { Operation, OperationView, Plan } from "holdfast";
import { z } from "zod";
import { jobListing } from "./job-schemas.ts";
import { listingView } from "./views.ts";
import { count, durationMs, id, instant, words } from "./words.ts";
import type { Call } from "./route.ts";

export const choice = {
  strategy: z.enum(["oldest", "newest", "random"]).optional(),
  limit: z.int().min(1).max(10_000).optional(),
  perCategory: z.int().min(1).max(10_000).optional(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
};

export const startOptions = {
  perSecond: z.int().min(1).max(100_000).optional(),
  attempts: z.union([z.int().min(1).max(1000), z.literal("full")]).optional(),
  delayMs: durationMs.optional(),
  stopAtFailureRate: z.number().gt(0).max(1).optional(),
  reason: words(500).optional(),
};

export const operationView = z
  .strictObject({
    id,
    action: z.string(),
    state: z.string(),
    filter: z.record(z.string(), z.unknown()),
    ...{ of: count, done: count, refused: count, missing: count, succeeded: count },
    failedAgain: count,
    erased: z
      .strictObject({ entries: count, locks: count })
      .optional()
      .meta({ description: "of an erasure: what went besides the jobs" }),
    perSecond: z.number().nullable(),
    by: z.string().nullable(),
    reason: z.string().nullable(),
    plannedAt: instant,
    startedAt: instant.nullable(),
    endedAt: instant.nullable(),
  })
  .meta({ id: "Operation" });

export const planView = z
  .strictObject({
    id,
    action: z.string(),
    count,
    byCategory: z.record(z.string(), count),
    isCut: z.boolean(),
    sample: z.array(jobListing),
  })
  .meta({ id: "Plan" });

/** What was planned, and what came of starting it; null: nothing has changed yet. */
export const planned = z.strictObject({ plan: planView, operation: operationView.nullable() });

export function planAnswer({ hf }: Pick<Call, "hf">, plan: Plan) {
  const { id: planId, action, count: jobs, byCategory, isCut, sample } = plan;
  const shown = sample.map((job) => listingView(hf, job));
  return { id: planId, action, count: jobs, byCategory, isCut, sample: shown };
}

/** Without the verbs of an operation in this process. */
export function operationAnswer(operation: OperationView | Operation): OperationView {
  const { id: own, action, state, filter, of, done, refused, missing, succeeded } = operation;
  const { failedAgain, erased, perSecond, by, reason, plannedAt, startedAt, endedAt } = operation;
  return {
    ...{ id: own, action, state, filter, of, done, refused, missing, succeeded, failedAgain },
    ...{ perSecond, by, reason, plannedAt, startedAt, endedAt },
    ...(erased !== undefined && { erased }),
  };
}
