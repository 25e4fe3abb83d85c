/** Execution locks, statistics, alerts, why a job waits, and erasing a tenant. */
import type { AlertKind } from "holdfast";
import { z } from "zod";
import { operationAnswer, operationView } from "./operation-schemas.ts";
import { Reply, route } from "./route.ts";
import { inScope, jobInScope, needQueueInScope, queueInScope } from "./scope.ts";
import { whyDetails } from "./views.ts";
import { defined, DONE, done, instant, list, name, paging, why, words } from "./words.ts";

const lock = z
  .looseObject({
    ...{ id: z.string(), key: z.string(), scope: z.string(), owner: z.string() },
    ...{ state: z.enum(["running", "completed", "failed"]), jobId: z.string() },
    ...{ type: z.string(), queue: z.string(), startedAt: instant, finishedAt: instant.nullable() },
  })
  .meta({ id: "Lock" });

const stats = z
  .looseObject({
    ...{ source: z.enum(["store", "ledger"]), at: instant, from: instant },
    finished: z.record(z.string(), z.number()),
    failedLastHour: z.number(),
    topFailing: z.array(z.looseObject({ type: z.string() })),
    waitMs: z.record(z.string(), z.number().nullable()),
    runMs: z.record(z.string(), z.number().nullable()),
    oldestReadyMs: z.number().nullable(),
    series: z.array(z.looseObject({ at: instant })),
  })
  .meta({ id: "Stats" });

const ALERT_KINDS = [
  ...(["spike", "lag", "depth", "memory", "dead", "unrecoverable", "operation"] as const),
] satisfies readonly AlertKind[];

const reason = z.looseObject({ kind: z.string() });

export const lockRoutes = [
  route({
    ...{
      method: "GET",
      path: "/api/v1/locks",
      role: "viewer",
      scope: "own",
      audit: null,
      body: null,
    },
    summary: "Execution locks: which work runs, or is done and does not run again.",
    query: z.strictObject({
      ...{ key: words(128).optional(), owner: words(200).optional(), scope: words(500).optional() },
      state: z.enum(["running", "completed", "failed"]).optional(),
      ...paging,
    }),
    answer: list(lock),
    async run({ hf, caller, query }) {
      const { locks, nextCursor } = await hf.locks.list(defined(query));
      const isSeen = inScope(caller);
      const own = isSeen ? locks.filter(isSeen) : locks;
      return { items: own, nextCursor };
    },
  }),
  route({
    ...{ method: "DELETE", path: "/api/v1/locks/:id", role: "operator", scope: "whole" },
    ...{ audit: "library", summary: "Releases a lock.", query: z.strictObject({ ...why }) },
    ...{ body: null, answer: done },
    async run({ hf, params, query, caller }) {
      await hf.locks.release(params.id ?? "", defined({ ...query, by: caller.by }));
      return DONE;
    },
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/stats",
      role: "viewer",
      scope: "own",
      audit: null,
      body: null,
    },
    summary: "What the fleet did lately, and what waits now.",
    query: z.strictObject({
      ...{ queue: name.optional(), type: name.optional() },
      lastMs: z
        .int()
        .min(60_000)
        .max(8 * 86_400_000)
        .optional(),
    }),
    answer: stats,
    async run({ hf, caller, query, services }) {
      const queue = queueInScope(caller, query.queue);
      needQueueInScope(caller, queue);
      const asked = defined({ ...query, queue });
      return services.shared.read(`stats ${JSON.stringify(asked)}`, () => hf.stats(asked));
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/alerts", role: "viewer", scope: "whole", audit: null },
    ...{ summary: "What people were told without asking, newest first.", body: null },
    query: z.strictObject({
      kind: z.enum(ALERT_KINDS).optional(),
      queue: name.optional(),
      ...paging,
    }),
    answer: list(
      z.looseObject({ id: z.string(), kind: z.string(), at: instant, message: z.string() }),
    ),
    async run({ hf, query }) {
      const { alerts, nextCursor } = await hf.alerts.list(defined(query));
      return { items: alerts, nextCursor };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/jobs/:id/why", role: "viewer", scope: "own", audit: null },
    ...{ summary: "Why a job does not run, and what would end that.", query: null, body: null },
    answer: z.looseObject({ summary: z.string(), reasons: z.array(reason) }),
    async run({ hf, caller, params }) {
      const { id } = await jobInScope({ hf, caller }, params.id ?? "");
      return whyDetails(hf, await hf.why(id));
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/erase", role: "admin", scope: "whole", query: null },
    ...{ audit: "library", statuses: [201], answer: operationView },
    summary: "Erases a tenant: jobs, ledger entries and locks of a group, by an operation.",
    body: z.strictObject({ group: name, reason: words(500).min(1) }),
    async run({ hf, body, caller }) {
      const told = { reason: body.reason, by: caller.by };
      const { id } = await hf.erase({ group: body.group }, told);
      return new Reply(operationAnswer(await hf.operations.get(id)), 201);
    },
  }),
];
