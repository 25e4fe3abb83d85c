/**
 * System 1's six types of jobs: what they take, how important they are, and which of them run once at a time for
 * their scope. `dataHash` stands for the data that a job is about: enqueued again after a change, it is other work;
 * enqueued again without one, it is skipped as done.
 */
import { defineJob } from "holdfast";
import { z } from "zod";
import { CFO_QUEUE } from "./queue-name.ts";

export type Criticality = "critical" | "medium" | "low" | "diagnostic";

/** Lower runs first. */
const PRIORITY = { critical: 10, medium: 100, low: 200, diagnostic: 300 } as const;

const RETRY = { maxAttempts: 5, baseMs: 1_000, factor: 2 } as const;
const companyId = z.string().min(1).max(64);
const dataHash = z.string().max(64).optional();
export const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, "is a month such as 2026-05");
export const day = z.iso.date();

/** Both days are in it. */
export const period = { periodStart: day, periodEnd: day };
interface Period {
  readonly periodStart: string;
  readonly periodEnd: string;
}
const TEN_YEARS_MS = 3_653 * 86_400_000;

/** Of a body and of a payload alike. */
export function isPeriod({ periodStart, periodEnd }: Period): boolean {
  const lengthMs = Date.parse(periodEnd) - Date.parse(periodStart);
  return lengthMs >= 0 && lengthMs <= TEN_YEARS_MS;
}
export const NO_PERIOD = {
  path: ["periodEnd"],
  message: "is before periodStart, or more than ten years after it",
};

const base = (criticality: Criticality) =>
  ({
    ...{ queue: CFO_QUEUE, retry: RETRY, priority: PRIORITY[criticality], tags: [criticality] },
    timeoutMs: 120_000,
  }) as const;

export const generateMonthlySnapshots = defineJob({
  ...base("critical"),
  type: "generateMonthlySnapshots",
  payload: z.object({ companyId, amendedMonth: month.optional(), dataHash }),
  lock: { key: "monthly_snapshot", scope: (p) => `${p.companyId}:${p.amendedMonth ?? "full"}` },
});

export const updateReports = defineJob({
  ...base("critical"),
  type: "updateReports",
  payload: z.object({ companyId, ...period, dataHash }).refine(isPeriod, NO_PERIOD),
  lock: {
    key: "monthly_report",
    scope: (p) => `${p.companyId}:${p.periodStart}_${p.periodEnd}`,
  },
});

export const batchRecalc = defineJob({
  ...base("critical"),
  type: "batchRecalc",
  payload: z.object({ companyId, ...period, dataHash }).refine(isPeriod, NO_PERIOD),
  lock: { key: "batch_recalc", scope: (p) => `${p.companyId}:${p.periodStart}_${p.periodEnd}` },
});

export const generateAIInsights = defineJob({
  ...base("medium"),
  type: "generateAIInsights",
  payload: z.object({ companyId, dataHash }),
  lock: {
    key: "ai_insights",
    // Of the job, not of today: a retry after midnight is the same work.
    scope: (p, job) => `${p.companyId}:${job.createdAt.toISOString().slice(0, 10)}`,
  },
});

export const sendNotifications = defineJob({
  ...base("low"),
  type: "sendNotifications",
  payload: z.object({
    companyId: companyId.nullable().default(null),
    subject: z.string().min(1).max(200),
    body: z.string().min(1).max(10_000),
  }),
});

export const healthPing = defineJob({
  ...base("diagnostic"),
  type: "healthPing",
  payload: z.object({ sentAt: z.iso.datetime().optional() }),
});

export const CFO_JOBS = [
  generateMonthlySnapshots,
  updateReports,
  batchRecalc,
  generateAIInsights,
  sendNotifications,
  healthPing,
] as const;

/** For people: what `GET /api/job-types` shows. */
export function describeJobs() {
  return CFO_JOBS.map(({ type, queue, priority, retry, lock, tags }) => ({
    ...{ name: type, queue, criticality: tags[0], priority, maxAttempts: retry.maxAttempts },
    lockKey: lock?.key ?? null,
  }));
}
