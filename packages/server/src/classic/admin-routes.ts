/** System 1: the health of a queue, its failures, retry and prune. All for admins. */
import type { FailureView, Holdfast } from "holdfast";
import { z } from "zod";
import { isStoreAway } from "../http/error-answer.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { route, type Route } from "../routes/route.ts";
import { failureDetails } from "../routes/views.ts";
import { count, defined, id, instant, name, words } from "../routes/words.ts";
import type { ClassicOptions } from "./classic.ts";

const HOUR_MS = 3_600_000;
const RETENTION_DAYS = 14;
/** The top of a flood is told from so many of the newest failures. */
const LOOKED_AT = 2_000;
const TOP = 5;

const failure = z.strictObject({
  ...{ id: z.string(), jobId: z.string(), jobName: z.string(), queueName: z.string() },
  ...{ companyId: z.string().nullable(), payload: z.unknown(), attempts: count },
  ...{ maxAttempts: count, isFinalAttempt: z.boolean(), failedReason: z.string() },
  ...{ stackTrace: z.string().nullable(), firstFailedAt: instant, resolvedAt: instant.nullable() },
});

function viewOf(hf: Holdfast, one: FailureView) {
  const { id: own, jobId, type, queue, company, attempt, maxAttempts, final } = one;
  const { payload, message, stack } = failureDetails(hf, one);
  return {
    ...{ id: own, jobId, jobName: type, queueName: queue, companyId: company, payload },
    ...{ attempts: attempt, maxAttempts, isFinalAttempt: final, failedReason: message },
    ...{ stackTrace: stack, firstFailedAt: one.failedAt, resolvedAt: one.resolvedAt },
  };
}

async function topFailed(hf: Holdfast, queue: string | undefined, from: Date) {
  const byType = new Map<string, number>();
  let cursor: string | null = null;
  let seen = 0;
  do {
    const page: Awaited<ReturnType<typeof hf.failures.list>> = await hf.failures.list(
      defined({ queue, from, limit: 200, cursor }),
    );
    for (const { type } of page.failures) byType.set(type, (byType.get(type) ?? 0) + 1);
    seen += page.failures.length;
    cursor = page.nextCursor;
  } while (cursor !== null && seen < LOOKED_AT);
  const sorted = [...byType].sort(([, a], [, b]) => b - a).slice(0, TOP);
  return sorted.map(([jobName, times]) => ({ jobName, count: times }));
}

/** Zeros while the store is away, where that was asked for. */
async function countsOf(hf: Holdfast, queue: string | undefined, isResilient: boolean) {
  const all = await hf.counts().catch((error: unknown) => {
    if (isResilient && isStoreAway(error)) return {};
    throw error;
  });
  const meant = Object.entries(all).filter(([one]) => queue === undefined || one === queue);
  const sum = (pick: "ready" | "processing" | "delayed" | "dead" | "succeeded") =>
    meant.reduce((total, [, numbers]) => total + numbers[pick], 0);
  const oldest = meant.flatMap(([, { oldestReadyAt }]) => oldestReadyAt ?? []);
  return {
    counts: {
      ...{ waiting: sum("ready"), active: sum("processing"), delayed: sum("delayed") },
      ...{ failed: sum("dead"), completed: sum("succeeded") },
    },
    oldestAt: oldest.length === 0 ? null : Math.min(...oldest),
  };
}

export function adminRoutes(options: ClassicOptions): readonly Route[] {
  const base = { role: "admin", scope: "whole" } as const;
  const isResilient = options.resilientMode === true;
  return [
    route({
      ...{ ...base, method: "GET", path: "/api/admin/queue/health", audit: null, body: null },
      summary: "System 1: the health of a queue.",
      query: z.strictObject({ queue: name.optional() }),
      answer: z.strictObject({
        queueName: z.string(),
        resilientMode: z.boolean(),
        counts: z.strictObject({
          ...{ waiting: count, active: count, delayed: count, failed: count, completed: count },
        }),
        oldestWaitingAgeSec: z.number().nullable(),
        failedLastHour: count,
        topFailedJobs: z.array(z.strictObject({ jobName: z.string(), count })),
        dlq: z.strictObject({ failedLastHour: count, failedLast24h: count, retentionDays: count }),
      }),
      async run({ hf, query, services }) {
        const queue = query.queue ?? options.queue;
        const now = services.now();
        const day = new Date(now - 24 * HOUR_MS);
        const [{ counts, oldestAt }, failedLastHour, failedLast24h, topFailedJobs] =
          await Promise.all([
            countsOf(hf, queue, isResilient),
            hf.failures.count(defined({ queue, from: new Date(now - HOUR_MS) })),
            hf.failures.count(defined({ queue, from: day })),
            topFailed(hf, queue, day),
          ]);
        const retentionDays = options.retentionDays ?? RETENTION_DAYS;
        const age = oldestAt === null ? null : Math.max(0, Math.round((now - oldestAt) / 1000));
        return {
          ...{ queueName: queue ?? "all", resilientMode: isResilient, counts },
          ...{ oldestWaitingAgeSec: age, failedLastHour, topFailedJobs },
          dlq: { failedLastHour, failedLast24h, retentionDays },
        };
      },
    }),
    route({
      ...{ ...base, method: "GET", path: "/api/admin/queue/failures", audit: null, body: null },
      summary: "System 1: failed attempts, newest first.",
      query: z.strictObject({
        limit: z.int().min(1).max(200).optional(),
        companyId: words(64).optional(),
        jobName: name.optional(),
      }),
      answer: z.array(failure),
      async run({ hf, query }) {
        const { limit = 50, companyId: company, jobName: type } = query;
        const { failures } = await hf.failures.list(defined({ limit, company, type }));
        return failures.map((one) => viewOf(hf, one));
      },
    }),
    route({
      ...{ ...base, method: "POST", path: "/api/admin/queue/retry", audit: "library", query: null },
      summary: "System 1: retries the job of a final failure, with full attempts.",
      body: z.strictObject({ failureId: id }),
      answer: z.strictObject({ jobId: z.string(), retried: z.literal(true) }),
      async run({ hf, body, caller }) {
        const found = await hf.failures.get(body.failureId);
        if (!found) throw notFound("such failure");
        const { jobId, final, resolvedAt } = found;
        if (!final) throw new HttpError(409, "not_final", "this attempt was tried again by itself");
        if (resolvedAt !== null) {
          throw new HttpError(409, "already_resolved", "this failure is resolved already");
        }
        if ((await hf.job(jobId)) === null) {
          throw new HttpError(404, "job_gone", "the job of this failure was removed or pruned");
        }
        const answer = await hf.retry(jobId, { by: caller.by, reason: `failure ${found.id}` });
        if (answer === "refused") {
          throw new HttpError(409, "refused", "only a dead or cancelled job can be retried");
        }
        return { jobId, retried: true };
      },
    }),
    route({
      ...{ ...base, method: "POST", path: "/api/admin/queue/prune", query: null, body: null },
      ...{
        audit: "noted: prune failures",
        summary: "System 1: removes failures past their keeping.",
      },
      answer: z.strictObject({ pruned: count }),
      run: async ({ hf }) => ({ pruned: await hf.failures.prune() }),
    }),
  ];
}
