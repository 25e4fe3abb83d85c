/** Queues and their groups: look, pause, resume, limit, settings. */
import { z } from "zod";
import { sees } from "../auth/caller.ts";
import { notFound } from "../http/http-error.ts";
import { queueCounts } from "../overview.ts";
import { route, type Call } from "./route.ts";
import {
  count,
  defined,
  DONE,
  done,
  durationMs,
  instant,
  list,
  name,
  paging,
  why,
} from "./words.ts";

const bound = z.int().min(0).max(1_000_000_000).nullable().optional();
const weight = z.int().min(1).max(1000).nullable();

const hold = z.looseObject({
  owner: z.string(),
  reason: z.string(),
  by: z.string().nullable(),
  until: instant.nullable(),
  since: instant,
});

export const queueView = z
  .looseObject({
    queue: name,
    ...{ ready: count, delayed: count, processing: count, succeeded: count, dead: count },
    ...{ cancelled: count, retrying: count, oldestReadyAt: instant.nullable() },
    holds: z
      .array(z.string())
      .nullable()
      .meta({ description: "why it is held; null: not looked at" }),
  })
  .meta({ id: "QueueCounts" });

const keepRule = z.union([
  z.null(),
  z.strictObject({
    maxAgeMs: durationMs.nullable().optional(),
    maxCount: count.nullable().optional(),
  }),
]);

const line = z.looseObject({
  queue: name,
  group: z.string(),
  waiting: count,
  active: count,
  maxActive: z.number().nullable(),
  weight: z.number(),
  holds: z.array(hold),
  oldestAt: instant.nullable(),
});

const PER_LOOK = 50;

/** A queue, or one group of it. */
function targetOf({ params }: Pick<Call, "params">) {
  const { queue = "", group } = params;
  return group === undefined ? queue : { queue, group };
}

function steering(path: string, what: string) {
  const base = { scope: "queue", audit: "library", answer: done } as const;
  return [
    route({
      ...{ ...base, method: "POST", path: `${path}/pause`, role: "operator" },
      summary: `Pauses ${what}: running jobs go on.`,
      query: null,
      body: z.strictObject({ forMs: durationMs.min(1).optional(), ...why }),
      isBodyOptional: true,
      async run(call) {
        await call.hf.pause(targetOf(call), { ...call.body, by: call.caller.by });
        return DONE;
      },
    }),
    route({
      ...{ ...base, method: "POST", path: `${path}/resume`, role: "operator" },
      ...{ summary: `Resumes ${what}.`, query: null, body: null },
      async run(call) {
        await call.hf.resume(targetOf(call));
        return DONE;
      },
    }),
  ];
}

export const queueRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/queues", role: "viewer", scope: "own", audit: null },
    summary: "Queues with their counts, at most a second old, by name.",
    query: z.strictObject({ ...paging }),
    ...{ body: null, answer: list(queueView) },
    async run({ hf, caller, query, services }) {
      const counts = await services.overview.counts();
      const { limit = PER_LOOK, cursor = "" } = query;
      const names = Object.keys(counts)
        .filter((queue) => sees(caller, queue) && queue > cursor)
        .sort((a, b) => (a < b ? -1 : 1));
      const shown = names.slice(0, limit);
      const held = new Map(
        await Promise.all(
          shown.map(async (queue) => {
            const { queue: state } = await hf.lines(queue, { limit: 1 });
            return [queue, state?.holds.map(({ reason }) => reason) ?? []] as const;
          }),
        ),
      );
      const items = shown.map((queue) => queueCounts(queue, { counts, held }));
      return { items, nextCursor: names.length > limit ? (shown.at(-1) ?? null) : null };
    },
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/queues/:queue",
      role: "viewer",
      scope: "queue",
      audit: null,
    },
    summary: "One queue: counts, holds, limits and settings.",
    ...{ query: null, body: null },
    answer: z.looseObject({
      ...queueView.shape,
      holds: z.array(hold),
      active: count,
      maxActive: z.number().nullable(),
      maxActivePerGroup: z.number().nullable(),
      maxWaiting: z.number().nullable(),
      overflow: z.string(),
      keep: z.record(z.string(), z.unknown()),
    }),
    async run({ hf, params, services }) {
      const { queue = "" } = params;
      const [counts, { queue: state }, { keep, overflow }] = await Promise.all([
        services.overview.counts(),
        hf.lines(queue, { limit: 1 }),
        hf.queues.get(queue),
      ]);
      if (counts[queue] === undefined && state === null) throw notFound("such queue");
      const { holds = [], active = 0, maxActive = null } = state ?? {};
      const { maxActivePerGroup = null, maxWaiting = null } = state ?? {};
      return {
        ...queueCounts(queue, { counts, held: new Map() }),
        ...{ holds, active, maxActive, maxActivePerGroup, maxWaiting, overflow, keep },
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/queues/:queue/lines", role: "viewer", scope: "queue" },
    ...{ audit: null, summary: "The lines of a queue: which groups wait, run, are held." },
    ...{ query: z.strictObject({ ...paging }), body: null, answer: list(line) },
    async run({ hf, params, query }) {
      const { queue, lines, nextCursor } = await hf.lines(params.queue ?? "", defined(query));
      if (queue === null && lines.length === 0) throw notFound("such queue");
      return { items: lines, nextCursor };
    },
  }),
  route({
    ...{ method: "PATCH", path: "/api/v1/queues/:queue/limits", role: "operator", scope: "queue" },
    ...{ audit: "library", summary: "Sets limits; null clears, what is absent stays." },
    query: null,
    body: z.strictObject({
      ...{ maxActive: bound, maxActivePerGroup: bound, maxWaiting: bound },
      weights: z.record(name, weight).optional(),
    }),
    answer: done,
    async run({ hf, params, body }) {
      await hf.limit(params.queue ?? "", body);
      return DONE;
    },
  }),
  ...steering("/api/v1/queues/:queue", "a queue"),
  route({
    ...{ method: "PATCH", path: "/api/v1/queues/:queue/groups/:group/limits", role: "operator" },
    ...{ scope: "queue", audit: "library", summary: "Sets the limits of a group." },
    ...{ query: null, body: z.strictObject({ maxActive: bound, weight: weight.optional() }) },
    answer: done,
    async run(call) {
      await call.hf.limit(targetOf(call), call.body);
      return DONE;
    },
  }),
  ...steering("/api/v1/queues/:queue/groups/:group", "a group"),
  route({
    ...{ method: "PATCH", path: "/api/v1/queues/:queue/settings", role: "admin", scope: "queue" },
    ...{ audit: "library", summary: "Settings of a queue that every process obeys." },
    query: null,
    body: z.strictObject({
      keep: z
        .strictObject({
          ...{
            succeeded: keepRule.optional(),
            dead: keepRule.optional(),
            cancelled: keepRule.optional(),
          },
        })
        .nullable()
        .optional(),
      overflow: z.enum(["wait", "reject", "cancel-running"]).nullable().optional(),
      ...{ maxActive: bound, maxActivePerGroup: bound, maxWaiting: bound, ...why },
    }),
    answer: done,
    async run({ hf, params, body, caller }) {
      const { reason, ...settings } = body;
      const words = reason === undefined ? {} : { reason };
      await hf.queues.set(params.queue ?? "", settings as never, { ...words, by: caller.by });
      return DONE;
    },
  }),
];
