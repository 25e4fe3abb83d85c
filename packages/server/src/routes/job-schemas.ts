/** Jobs, failures and audits, as answers have them. A newer library may tell more of them: callers pass over that. */
import { z } from "zod";
import { category, count, id, instant, json, name, status, words } from "./words.ts";

const failure = z.looseObject({
  category,
  message: z.string(),
  stack: z.string().nullable(),
  fingerprint: z.string().nullable(),
});

const listing = {
  id,
  type: name,
  queue: name,
  group: z.string().nullable(),
  status,
  priority: count,
  payload: json.meta({ description: "secrets hidden" }),
  result: json,
  resultDropped: z.boolean(),
  attempts: count,
  maxAttempts: count,
  crashes: count,
  error: failure.nullable(),
  reason: z.string().nullable(),
  progress: z.strictObject({ percent: z.number(), message: z.string().nullable() }).nullable(),
  cancelAsked: z.boolean(),
  tags: z.array(z.string()),
  meta: json,
  idempotencyKey: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
  runAt: instant,
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  expiresAt: instant.nullable().optional(),
  worker: z.string().nullable(),
  leasedAt: instant.nullable(),
  leaseUntil: instant.nullable(),
};

export const jobListing = z.looseObject(listing).meta({ id: "JobListing" });

export const jobDetails = z
  .looseObject({
    ...listing,
    checkpoint: json,
    steps: z.array(z.string()),
    logs: z.array(z.strictObject({ at: instant, text: z.string() })),
    history: z.array(
      z.looseObject({
        attempt: count,
        fence: z.number(),
        worker: z.string(),
        startedAt: instant,
        endedAt: instant,
        outcome: z.enum(["succeeded", "failed", "crashed", "cancelled"]),
        category: category.nullable(),
        message: z.string().nullable(),
        stack: z.string().nullable(),
      }),
    ),
    lineage: z.looseObject({
      spawnedBy: id.nullable().meta({ description: "the job whose handler spawned it" }),
      schedule: z.looseObject({ name: z.string(), tick: instant }).nullable(),
      changedBy: z
        .looseObject({ by: z.string(), operation: z.string().nullable() })
        .nullable()
        .meta({ description: "who retried or cancelled it last" }),
    }),
  })
  .meta({ id: "Job" });

export const receipt = z
  .strictObject({
    id,
    status: z.enum(["added", "duplicate", "spooled", "ran"]),
    queue: name,
    type: name,
    jobStatus: z.enum([...status.options, "pruned"]),
  })
  .meta({ id: "Receipt" });

export const failureView = z
  .looseObject({
    id: z.string(),
    jobId: z.string(),
    type: z.string(),
    queue: z.string(),
    group: z.string().nullable(),
    company: z.string().nullable(),
    payload: json.meta({ description: "secrets hidden" }),
    attempt: count,
    maxAttempts: count,
    final: z.boolean(),
    reason: z.string().nullable(),
    retryInMs: z.number().nullable(),
    category,
    fingerprint: z.string().nullable(),
    message: z.string(),
    stack: z.string().nullable(),
    worker: z.string(),
    fence: z.number(),
    failedAt: instant,
    resolvedAt: instant.nullable(),
    resolvedBy: z.string().nullable(),
  })
  .meta({ id: "Failure" });

const action = {
  id: z.string(),
  at: instant,
  action: z.string(),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  state: z.string(),
  queue: z.string().nullable(),
};

/** Who did what to what. */
export const actionView = z.strictObject(action).meta({ id: "Action" });

export const auditEntry = z
  .strictObject({
    ...action,
    jobId: z.string().nullable(),
    type: z.string().nullable(),
    group: z.string().nullable(),
    worker: z.string().nullable(),
    details: json,
  })
  .meta({ id: "AuditEntry" });

/** What an enqueue takes besides type and payload. */
export const newJob = z
  .strictObject({
    type: name,
    payload: json.optional(),
    queue: name.optional(),
    group: name.optional(),
    priority: z.int().min(0).max(8191).optional(),
    delayMs: z
      .int()
      .min(0)
      .max(10 * 365 * 86_400_000)
      .optional(),
    runAt: instant.optional(),
    expiresAt: instant.optional(),
    expiresAfterMs: z
      .int()
      .min(1)
      .max(10 * 365 * 86_400_000)
      .optional(),
    idempotencyKey: z.string().min(1).max(512).optional(),
    idempotencyTtlMs: z.union([z.int().min(1), z.literal("until-finished")]).optional(),
    dedupe: z.literal("payload").optional(),
    onDuplicate: z.enum(["return", "throw"]).optional(),
    onConflict: z.enum(["return", "throw"]).optional(),
    maxAttempts: z.int().min(1).max(1000).optional(),
    tags: z.array(words(128)).max(20).optional(),
    meta: z.record(z.string(), json).optional(),
    trace: words(512).optional(),
  })
  .meta({ id: "NewJob" });
