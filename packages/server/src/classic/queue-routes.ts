/** Systems 2 and 5: enqueue, look at a job, list jobs, the dead letters; unwrapped, lists are bare arrays. */
import type { JobListing } from "holdfast";
import { z } from "zod";
import { sees } from "../auth/caller.ts";
import { checkAllowed } from "../routes/enqueue.ts";
import { Reply, route, type Call, type Route } from "../routes/route.ts";
import { jobInScope, queueInScope } from "../routes/scope.ts";
import { listingView } from "../routes/views.ts";
import { count, defined, instant, json, name } from "../routes/words.ts";
import type { ClassicOptions } from "./classic.ts";

const LEASE_MS = 10_000;
const STATUSES = ["queued", "processing", "succeeded", "failed"] as const;
const status = z.enum(STATUSES);

const job = z
  .strictObject({
    ...{ _id: z.string(), type: z.string(), payload: json, status, priority: count },
    ...{ attempts: count, maxAttempts: count, error: z.string().nullable(), result: json },
    ...{ availableAt: instant, lockedAt: instant.nullable(), lockOwner: z.string().nullable() },
    ...{ visibilityTimeoutMs: count, createdAt: instant, updatedAt: instant },
    ...{ startedAt: instant.nullable(), finishedAt: instant.nullable() },
  })
  .meta({ id: "ClassicJob" });

function viewOf(hf: Call["hf"], given: JobListing) {
  const one = listingView(hf, given);
  const isOver = one.status === "dead" || one.status === "cancelled";
  const leaseMs = (one.leaseUntil?.getTime() ?? 0) - (one.leasedAt?.getTime() ?? 0);
  return {
    ...{ _id: one.id, type: one.type, payload: one.payload, priority: one.priority },
    status: isOver ? "failed" : one.status,
    ...{ attempts: one.attempts, maxAttempts: one.maxAttempts, result: one.result },
    error: one.error?.message ?? one.reason,
    ...{ availableAt: one.runAt, lockedAt: one.leasedAt },
    lockOwner: one.status === "processing" ? one.worker : null,
    visibilityTimeoutMs: leaseMs > 0 ? leaseMs : LEASE_MS,
    ...{ createdAt: one.createdAt, updatedAt: one.updatedAt },
    ...{ startedAt: one.startedAt, finishedAt: one.finishedAt },
  };
}

async function jobsOf(
  { hf, caller }: Pick<Call, "hf" | "caller">,
  query: { status?: (typeof STATUSES)[number]; type?: string; limit?: number },
) {
  const { status: word, type, limit = 100 } = query;
  const statuses = word === "failed" ? (["dead", "cancelled"] as const) : word;
  const queue = queueInScope(caller, undefined);
  const { jobs } = await hf.jobs(defined({ status: statuses, type, limit, queue }));
  return jobs.filter((one) => sees(caller, one.queue)).map((one) => viewOf(hf, one));
}

const enqueueBody = z.strictObject({
  type: name,
  payload: json.optional(),
  maxAttempts: z.int().min(1).max(1000).optional(),
  priority: z.int().min(0).max(8191).optional(),
  delayMs: z.int().min(0).optional(),
  dedupe: z
    .boolean()
    .optional()
    .meta({ description: "false: the same payload again is another job" }),
});

function under(prefix: string, system: string, options: ClassicOptions): Route[] {
  const base = { scope: "own", isUnwrapped: true } as const;
  const read = { ...base, role: "viewer", audit: null, body: null } as const;
  return [
    route({
      ...{ ...base, method: "POST", path: `${prefix}/enqueue`, role: "operator", query: null },
      ...{ audit: "gathered", statuses: [201], body: enqueueBody, answer: job },
      summary: `${system}: enqueues a job; the same payload again is 409.`,
      async run({ hf, caller, services, body, address }) {
        const { type, payload = {}, dedupe = true, ...rest } = body;
        const queue = hf.tools.type(type) ? undefined : (options.queue ?? "default");
        checkAllowed(services, caller, { type, queue });
        const once = dedupe ? { dedupe: "payload" as const, onDuplicate: "throw" as const } : {};
        const { id } = await hf.enqueue(type, payload, defined({ ...rest, queue, ...once }));
        services.audit.gather({ caller, address }, { action: "enqueue" });
        return new Reply(viewOf(hf, await jobInScope({ hf, caller }, id)), 201);
      },
    }),
    route({
      ...{ ...read, method: "GET", path: prefix, answer: z.array(job) },
      summary: `${system}: jobs, newest first.`,
      query: z.strictObject({
        status: status.optional(),
        type: name.optional(),
        limit: z.int().min(1).max(200).optional(),
      }),
      run: (call) => jobsOf(call, defined(call.query)),
    }),
  ];
}

function one(prefix: string, system: string): Route {
  return route({
    ...{ method: "GET", path: `${prefix}/:id`, role: "viewer", scope: "own", isUnwrapped: true },
    ...{ audit: null, query: null, body: null, answer: job, summary: `${system}: one job.` },
    run: async ({ hf, caller, params }) =>
      viewOf(hf, await jobInScope({ hf, caller }, params.id ?? "")),
  });
}

export function queueRoutes(options: ClassicOptions): readonly Route[] {
  return [
    ...under("/queue", "System 2", options),
    ...under("/api/v1/queue", "System 5", options),
    route({
      ...{ method: "GET", path: "/api/v1/queue/dead-letter", role: "viewer", scope: "own" },
      ...{ isUnwrapped: true, audit: null, body: null, answer: z.array(job) },
      summary: "System 5: the dead letters, newest first.",
      query: z.strictObject({ limit: z.int().min(1).max(200).optional() }),
      async run({ hf, caller, query }) {
        const { jobs } = await hf.deadLetters.list(
          defined({ limit: query.limit ?? 100, queue: queueInScope(caller, undefined) }),
        );
        return jobs.filter(({ queue }) => sees(caller, queue)).map((given) => viewOf(hf, given));
      },
    }),
    // Behind those with a name of their own.
    ...[one("/queue", "System 2"), one("/api/v1/queue", "System 5")],
  ];
}
