/** Schedules: what fires when, and what became of it. */
import type { RuleOptions, ScheduleOptions, ScheduleView } from "holdfast";
import { z } from "zod";
import { sees } from "../auth/caller.ts";
import { notFound } from "../http/http-error.ts";
import { validate } from "../http/validate.ts";
import { optionsOf, payloadOf } from "./enqueue.ts";
import { newJob } from "./job-schemas.ts";
import { route, type Call } from "./route.ts";
import { runDetails, scheduleDetails } from "./views.ts";
import { dateOf, defined, DONE, done, instant, list, name, paging, why, words } from "./words.ts";

const rule = {
  cron: words(200).optional(),
  timeZone: words(64).optional(),
  everyMs: z.int().min(1).optional(),
  startAfterMs: z.int().min(0).optional(),
};

const schedule = z
  .looseObject({
    ...{ name, cron: z.string().nullable(), timeZone: z.string().nullable() },
    ...{ everyMs: z.number().nullable(), enabled: z.boolean(), next: z.array(instant) },
    job: z.looseObject({ type: z.string(), queue: z.string() }),
  })
  .meta({ id: "Schedule" });

const run = z.looseObject({ schedule: z.string(), tick: instant, state: z.string() });

/** Those of whose job the caller may see the queue. */
async function scheduleInScope({ hf, caller, params }: Call): Promise<ScheduleView> {
  const found = await hf.schedules.get(validate(name, params.name, "path"));
  if (!sees(caller, found.job.queue)) throw notFound("such schedule");
  return found;
}

const command = { role: "operator", scope: "own", audit: "library", query: null } as const;
const owned = { scope: "whole", audit: "library", role: "admin" } as const;

function steering(verb: "pause" | "resume", summary: string) {
  return route({
    ...{ ...command, method: "POST", path: `/api/v1/schedules/:name/${verb}`, summary },
    ...{ body: z.strictObject({ ...why }), isBodyOptional: true, answer: done },
    async run(call) {
      const { name: named } = await scheduleInScope(call);
      await call.hf.schedules[verb](named, defined({ ...call.body, by: call.caller.by }));
      return DONE;
    },
  });
}

export const scheduleRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/schedules", role: "viewer", scope: "own", audit: null },
    ...{ summary: "Schedules by name, with their next five ticks and last run.", body: null },
    query: z.strictObject({ prefix: words(128).optional(), ...paging }),
    answer: list(schedule),
    async run({ hf, caller, query }) {
      const { prefix, limit = 50, cursor: after } = query;
      const asked = defined({ prefix, after, limit: limit + 1 });
      const found = await hf.schedules.list(asked);
      const shown = found.slice(0, limit);
      const nextCursor = found.length > limit ? (shown.at(-1)?.name ?? null) : null;
      const own = shown.filter(({ job }) => sees(caller, job.queue));
      return { items: own.map((one) => scheduleDetails(hf, one)), nextCursor };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/schedules/preview", role: "operator", scope: "own" },
    ...{ audit: null, isHarmless: true, summary: "The next five ticks of a rule.", query: null },
    ...{ body: z.strictObject(rule), answer: z.strictObject({ next: z.array(instant) }) },
    run: async ({ hf, body }) => ({
      next: await hf.schedules.preview(defined(body) as object as RuleOptions),
    }),
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/schedules/:name",
      role: "viewer",
      scope: "own",
      audit: null,
    },
    ...{ summary: "One schedule.", query: null, body: null, answer: schedule },
    run: async (call) => scheduleDetails(call.hf, await scheduleInScope(call)),
  }),
  route({
    ...{ method: "GET", path: "/api/v1/schedules/:name/runs", role: "viewer", scope: "own" },
    ...{ audit: null, summary: "What became of each tick, newest first.", body: null },
    query: z.strictObject({ from: instant.optional(), to: instant.optional(), ...paging }),
    answer: list(run),
    async run(call) {
      const { name: named } = await scheduleInScope(call);
      const { from, to, ...page } = call.query;
      const asked = defined({ ...page, from: dateOf(from), to: dateOf(to) });
      const { runs, nextCursor } = await call.hf.schedules.runs(named, asked);
      return { items: runs.map((one) => runDetails(call.hf, one)), nextCursor };
    },
  }),
  route({
    ...{ ...owned, method: "PUT", path: "/api/v1/schedules/:name", query: null, answer: done },
    summary: "Makes or changes a schedule that belongs to the store.",
    body: z.strictObject({
      ...rule,
      job: newJob,
      overlap: z.enum(["skip", "queue", "cancel"]).optional(),
      missed: z.enum(["once", "skip", "all"]).optional(),
      ...why,
    }),
    async run({ hf, params, body, caller }) {
      const { reason, job, ...rest } = body;
      const { type, ...given } = job;
      const item = { type, payload: payloadOf(job), ...optionsOf(given) };
      const told = defined({ reason, by: caller.by });
      const named = validate(name, params.name, "path");
      // Neither or both of two rules are refused by the library, which says so.
      const options: object = defined({ ...rest, job: item });
      await hf.schedules.set(named, options as ScheduleOptions, told);
      return DONE;
    },
  }),
  route({
    ...{ ...owned, method: "DELETE", path: "/api/v1/schedules/:name", body: null, answer: done },
    ...{ summary: "Removes a schedule.", query: z.strictObject({ ...why }) },
    async run({ hf, params, query, caller }) {
      const named = validate(name, params.name, "path");
      await hf.schedules.remove(named, defined({ ...query, by: caller.by }));
      return DONE;
    },
  }),
  route({
    ...{ ...command, method: "POST", path: "/api/v1/schedules/:name/run" },
    ...{ summary: "Fires a schedule now.", body: z.strictObject({ ...why }), isBodyOptional: true },
    answer: z.strictObject({ id: z.string() }),
    async run(call) {
      const { name: named } = await scheduleInScope(call);
      const { id } = await call.hf.schedules.runNow(
        named,
        defined({ ...call.body, by: call.caller.by }),
      );
      return { id };
    },
  }),
  steering("pause", "A schedule fires nothing until it is resumed."),
  steering("resume", "A paused schedule fires again."),
];
