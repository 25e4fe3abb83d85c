/** Dead letters: which faults, which jobs, what to do about them. */
import type { DeadPlanOptions, JobListing } from "holdfast";
import { z } from "zod";
import { sees, type Caller } from "../auth/caller.ts";
import { invalid, notFound } from "../http/http-error.ts";
import { hasText } from "./job-filter.ts";
import { jobListing } from "./job-schemas.ts";
import { fillList } from "./fill-list.ts";
import {
  choice,
  operationAnswer,
  planAnswer,
  planned,
  planView,
  startOptions,
} from "./operation-schemas.ts";
import { countPlan } from "./plan-limit.ts";
import { Reply, route, type Call } from "./route.ts";
import { inScope, needQueueInScope, queueInScope } from "./scope.ts";
import { listingView } from "./views.ts";
import {
  category,
  count,
  dateOf,
  defined,
  DONE,
  done,
  instant,
  list,
  name,
  paging,
  why,
  words,
} from "./words.ts";

const filter = {
  fingerprint: words(128).optional(),
  type: name.optional(),
  queue: name.optional(),
  group: z.union([name, z.literal("")]).optional(),
  tag: words(128).optional(),
  category: category.optional(),
  text: words(200).optional().meta({ description: "in the message of the failure, in any case" }),
};
const times = {
  from: instant.optional().meta({ description: "died at or after" }),
  to: instant.optional().meta({ description: "died before" }),
};

const faultGroup = z
  .looseObject({
    fingerprint: z.string().nullable(),
    type: z.string(),
    category: category.nullable(),
    message: z.string().nullable(),
    count,
    firstAt: instant,
    lastAt: instant,
    example: z.string(),
    state: z.enum(["open", "resolved", "ignored", "back"]),
    resolvedIn: z.string().nullable(),
  })
  .meta({ id: "FaultGroup" });

const planBody = { ...filter, ...times, ...choice };
type PlanGiven = z.output<z.ZodObject<typeof planBody>>;

function planOptions({ from, to, ...given }: PlanGiven): DeadPlanOptions {
  return defined({ ...given, from: dateOf(from), to: dateOf(to) });
}

/** Passed over in silence, a limit beside a preset would run more jobs than were asked for. */
function refuseBesidePreset(plan: PlanGiven): void {
  const fields = Object.keys(plan);
  if (fields.length === 0) return;
  const message = "a preset has a filter and a choice of its own: leave this out, or the preset";
  throw invalid(fields.map((field) => ({ path: `body.${field}`, message })));
}

const counts = z.record(z.string(), count);

function seenOnly(
  byQueue: Readonly<Record<string, number>>,
  caller: Caller,
): Record<string, number> {
  return Object.fromEntries(Object.entries(byQueue).filter(([queue]) => sees(caller, queue)));
}

const decision = { scope: "whole", audit: "library", role: "operator", query: null } as const;

export const deadLetterRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/dead-letters", role: "viewer", scope: "own", audit: null },
    summary: "Dead jobs that fit a filter, newest first.",
    query: z.strictObject({
      ...filter,
      ...times,
      order: z.enum(["newest", "oldest"]).optional(),
      ...paging,
    }),
    ...{ body: null, answer: list(jobListing) },
    async run({ hf, caller, query }) {
      const { limit = 50, cursor = null, from, to, order, ...given } = query;
      const queue = queueInScope(caller, given.queue);
      const asked = defined({ ...given, queue, from: dateOf(from), to: dateOf(to), order });
      const tests = [
        queue === undefined ? inScope(caller) : null,
        given.text === undefined ? null : hasText(hf, given.text),
      ].filter((test) => test !== null);
      const isMeant =
        tests.length === 0 ? null : (job: JobListing) => tests.every((test) => test(job));
      const page = await fillList<JobListing>({ limit, cursor }, isMeant, async (part) => {
        const found = await hf.deadLetters.list({ ...asked, ...part });
        return { items: found.jobs, nextCursor: found.nextCursor };
      });
      return { items: page.items.map((job) => listingView(hf, job)), nextCursor: page.nextCursor };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/dead-letters/groups", role: "viewer", scope: "own" },
    ...{ audit: null, summary: "The faults that jobs died of, the commonest first.", body: null },
    query: z.strictObject({
      queue: name.optional(),
      all: z.boolean().optional().meta({ description: "also those that are resolved or ignored" }),
      limit: paging.limit,
    }),
    answer: list(faultGroup),
    async run({ hf, caller, query }) {
      const queue = queueInScope(caller, query.queue);
      needQueueInScope(caller, queue);
      const groups = await hf.deadLetters.groups(defined({ ...query, queue }));
      const items = groups.map((group) => ({
        ...group,
        message: group.message === null ? null : hf.tools.redact.text(group.message),
      }));
      return { items, nextCursor: null };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/dead-letters/summary", role: "viewer", scope: "own" },
    ...{
      audit: null,
      summary: "How many died, by category, queue and group.",
      query: null,
      body: null,
    },
    answer: z.looseObject({ total: count, byCategory: counts, byQueue: counts, byGroup: counts }),
    async run({ hf, caller }) {
      const summary = await hf.deadLetters.summary();
      if (caller.queues === null) return summary;
      const byQueue = seenOnly(summary.byQueue, caller);
      const total = Object.values(byQueue).reduce((sum, one) => sum + one, 0);
      return { total, byCategory: {}, byQueue, byGroup: {} };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/dead-letters/plan", role: "operator", scope: "own" },
    ...{ audit: "noted: plan replay", query: null, isBodyOptional: true },
    summary: "Which dead jobs a replay would run again. Nothing changes.",
    ...{ body: z.strictObject(planBody), answer: planView },
    async run(call) {
      needQueueInScope(call.caller, call.body.queue);
      countPlan(call);
      return planAnswer(call, await call.hf.deadLetters.plan(planOptions(call.body)));
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/dead-letters/replay", role: "operator", scope: "own" },
    ...{ audit: "library", statuses: [200, 201], query: null, isBodyOptional: true },
    summary:
      "Plans a replay and starts it; dryRun only plans it. useFullRetry gives full attempts.",
    body: z.strictObject({
      ...planBody,
      preset: name.optional(),
      dryRun: z.boolean().optional(),
      useFullRetry: z.boolean().optional(),
      ...startOptions,
    }),
    answer: planned,
    async run(call) {
      const { hf, caller, body } = call;
      const { preset, dryRun, useFullRetry, perSecond, attempts, delayMs, ...given } = body;
      const { stopAtFailureRate, reason, ...plan } = given;
      if (preset !== undefined) refuseBesidePreset(plan);
      // A preset has a filter of its own.
      needQueueInScope(caller, preset === undefined ? plan.queue : undefined);
      countPlan(call);
      const made =
        preset === undefined
          ? await hf.deadLetters.plan(planOptions(plan))
          : await hf.deadLetters.presets.plan(preset);
      if (dryRun === true) return { plan: planAnswer(call, made), operation: null };
      const operation = await made.start(
        defined({
          ...{ perSecond, delayMs, stopAtFailureRate, reason, by: caller.by },
          attempts: attempts ?? (useFullRetry === true ? ("full" as const) : undefined),
        }),
      );
      return new Reply(
        { plan: planAnswer(call, made), operation: operationAnswer(operation) },
        201,
      );
    },
  }),
  route({
    ...{ ...decision, method: "POST", path: "/api/v1/dead-letters/groups/:fingerprint/resolve" },
    ...{ summary: "A fault is resolved: shown again only if it comes back.", answer: done },
    ...{ body: z.strictObject({ ...why }), isBodyOptional: true },
    async run({ hf, params, body, caller }) {
      const fault = await faultOf(hf, params);
      await hf.deadLetters.resolve(fault, { ...body, by: caller.by });
      return DONE;
    },
  }),
  route({
    ...{ ...decision, method: "POST", path: "/api/v1/dead-letters/groups/:fingerprint/ignore" },
    ...{
      summary: "A fault is ignored, until it comes too often.",
      answer: done,
      isBodyOptional: true,
    },
    body: z.strictObject({ untilPerHour: z.int().min(1).max(10_000).optional(), ...why }),
    async run({ hf, params, body, caller }) {
      const fault = await faultOf(hf, params);
      await hf.deadLetters.ignore(fault, { ...body, by: caller.by });
      return DONE;
    },
  }),
  route({
    ...{ ...decision, method: "POST", path: "/api/v1/dead-letters/groups/:fingerprint/reopen" },
    ...{ summary: "As if nothing had been decided about a fault.", answer: done },
    ...{ body: z.strictObject({ ...why }), isBodyOptional: true },
    async run({ hf, params, body, caller }) {
      const fault = await faultOf(hf, params);
      await hf.deadLetters.reopen(fault, { ...body, by: caller.by });
      return DONE;
    },
  }),
];

/** A decision about a fault that nobody has would be kept, and never be seen. */
async function faultOf(hf: Call["hf"], params: Call["params"]): Promise<string> {
  const { fingerprint = "" } = params;
  if (!(await hf.deadLetters.isKnown(fingerprint))) throw notFound("fault with this fingerprint");
  return fingerprint;
}

const presetOptions = z.strictObject({ ...filter, ...choice });
const preset = z.strictObject({ name, options: z.record(z.string(), z.unknown()) });

async function presetOf({ hf, params }: Call) {
  const all = await hf.deadLetters.presets.list();
  const found = all.find((one) => one.name === params.name);
  if (!found) throw notFound("such preset");
  return found;
}

export const presetRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/dead-letters/presets", role: "viewer", scope: "whole" },
    ...{
      audit: null,
      summary: "Replays that have a name.",
      query: null,
      body: null,
      answer: list(preset),
    },
    run: async ({ hf }) => ({ items: await hf.deadLetters.presets.list(), nextCursor: null }),
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/dead-letters/presets/:name",
      role: "viewer",
      scope: "whole",
    },
    ...{ audit: null, summary: "One of them.", query: null, body: null, answer: preset },
    run: presetOf,
  }),
  route({
    ...{
      method: "PUT",
      path: "/api/v1/dead-letters/presets/:name",
      role: "operator",
      scope: "whole",
    },
    ...{ audit: "noted: save preset", summary: "Saves a replay under a name.", query: null },
    ...{ body: presetOptions, answer: done },
    async run({ hf, params, body }) {
      await hf.deadLetters.presets.save(params.name ?? "", defined(body));
      return DONE;
    },
  }),
  route({
    ...{ method: "DELETE", path: "/api/v1/dead-letters/presets/:name", role: "operator" },
    ...{ scope: "whole", audit: "noted: remove preset", summary: "Forgets it." },
    ...{ query: null, body: null, answer: done },
    async run(call) {
      const { name: named } = await presetOf(call);
      await call.hf.deadLetters.presets.remove(named);
      return DONE;
    },
  }),
];
