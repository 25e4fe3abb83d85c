/** Jobs: look, retry, cancel, remove, reveal. */
import type { JobListing } from "holdfast";
import { z } from "zod";
import { needRole } from "../auth/caller.ts";
import { HttpError } from "../http/http-error.ts";
import { filterOf, hasText, jobFilter, timesOfPrefix } from "./job-filter.ts";
import { jobDetails as jobSchema, jobListing } from "./job-schemas.ts";
import { fillList } from "./fill-list.ts";
import { Reply, route } from "./route.ts";
import { inScope, jobInScope, queueInScope } from "./scope.ts";
import { jobDetails, listingView } from "./views.ts";
import { durationMs, json, list, paging, why, words } from "./words.ts";

const ID_PREFIX = /^[0-9a-f]{8}(-?[0-9a-f-]{0,28})$/i;

const TYPE_OR_BEGINNING = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}\*?$/;

/** With dashes or without: as it was copied. */
function idBegins({ id }: JobListing, digits: string): boolean {
  return id.replaceAll("-", "").startsWith(digits);
}

const answered = <const Word extends string>(...results: Word[]) =>
  z.strictObject({ result: z.enum(results) });

/** Refused because of what the job is now. */
function refused(what: string): HttpError {
  return new HttpError(409, "refused", what);
}

export const jobRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/jobs", role: "viewer", scope: "own", audit: null },
    summary: "Jobs that fit a filter, newest first.",
    query: z.strictObject({
      ...jobFilter,
      type: z
        .string()
        .regex(TYPE_OR_BEGINNING, "a type, or the beginning of one with a star: email.*")
        .optional()
        .meta({ description: "of the job; email.* for all that begin so" }),
      id: z
        .string()
        .regex(ID_PREFIX, "at least the first 8 characters of an id")
        .optional()
        .meta({ description: "the beginning of an id, at least 8 characters" }),
      text: words(200)
        .optional()
        .meta({ description: "in the message of the last failure, in any case" }),
      order: z.enum(["newest", "oldest"]).optional(),
      payloads: z
        .boolean()
        .optional()
        .meta({ description: "false leaves payloads and results out" }),
      ...paging,
    }),
    body: null,
    answer: list(jobListing),
    async run({ hf, caller, query }) {
      const { id, text, order, payloads, limit = 50, cursor = null, type, ...given } = query;
      const queue = queueInScope(caller, given.queue);
      const family = type?.endsWith("*") === true ? type.slice(0, -1) : null;
      const filter = {
        ...filterOf(given),
        ...(queue !== undefined && { queue }),
        ...(type !== undefined && family === null && { type }),
      };
      const times = id === undefined ? {} : timesOfPrefix(id);
      const scoped = inScope(caller);
      const begins = id?.replaceAll("-", "").toLowerCase();
      const tests = [
        queue === undefined ? scoped : null,
        text === undefined ? null : hasText(hf, text),
        family === null ? null : (job: JobListing) => job.type.startsWith(family),
        begins === undefined ? null : (job: JobListing) => idBegins(job, begins),
      ].filter((test) => test !== null);
      const isMeant =
        tests.length === 0 ? null : (job: JobListing) => tests.every((test) => test(job));
      const page = await fillList({ limit, cursor }, isMeant, async (part) => {
        const { jobs, nextCursor } = await hf.jobs({
          ...{ ...times, ...filter, ...part },
          ...(order && { order }),
          ...(payloads === false && { without: "payloads" as const }),
        });
        return { items: jobs, nextCursor };
      });
      return { items: page.items.map((job) => listingView(hf, job)), nextCursor: page.nextCursor };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/jobs/:id", role: "viewer", scope: "own", audit: null },
    summary: "One job, with its attempts, log lines, steps, progress and where it comes from.",
    ...{ query: null, body: null, answer: jobSchema },
    run: async ({ hf, caller, params }) =>
      jobDetails(hf, await jobInScope({ hf, caller }, params.id ?? "")),
  }),
  route({
    ...{ method: "POST", path: "/api/v1/jobs/:id/retry", role: "operator", scope: "own" },
    ...{
      audit: "library",
      summary: "A dead or cancelled job runs again. An edited payload needs an admin.",
    },
    query: null,
    body: z.strictObject({
      attempts: z.int().min(1).max(1000).optional(),
      delayMs: durationMs.optional(),
      payload: json.optional(),
      ...why,
    }),
    isBodyOptional: true,
    answer: answered("retried"),
    async run({ hf, caller, params, body }) {
      if (body.payload !== undefined) needRole(caller, "admin", "a retry with another payload");
      const { id } = await jobInScope({ hf, caller }, params.id ?? "");
      const result = await hf.retry(id, { ...body, by: caller.by });
      if (result === "refused") throw refused("only a dead or cancelled job can be retried");
      return { result };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/jobs/:id/cancel", role: "operator", scope: "own" },
    ...{
      audit: "library",
      summary: "Cancels a queued job; asks the handler of a running one to stop.",
    },
    ...{ query: null, body: z.strictObject({ ...why }), isBodyOptional: true },
    answer: answered("cancelled", "asked"),
    async run({ hf, caller, params, body }) {
      const { id } = await jobInScope({ hf, caller }, params.id ?? "");
      const result = await hf.cancel(id, { ...body, by: caller.by });
      if (result === "refused") throw refused("this job has finished already");
      return { result };
    },
  }),
  route({
    ...{
      method: "DELETE",
      path: "/api/v1/jobs/:id",
      role: "admin",
      scope: "own",
      audit: "library",
    },
    summary: "Forgets a job and frees its idempotency key.",
    ...{ query: z.strictObject({ ...why }), body: null, answer: answered("removed") },
    async run({ hf, caller, params, query }) {
      const { id } = await jobInScope({ hf, caller }, params.id ?? "");
      const result = await hf.remove(id, { ...query, by: caller.by });
      if (result === "refused") throw refused("a job that runs cannot be removed: cancel it first");
      return { result };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/jobs/:id/reveal", role: "admin", scope: "own" },
    ...{ audit: "noted: reveal job", summary: "The payload and result of one job as they are." },
    ...{ query: null, body: z.strictObject({ ...why }), isBodyOptional: true },
    answer: z.strictObject({ id: z.string(), payload: json, result: json, checkpoint: json }),
    async run({ hf, caller, params }) {
      const job = await jobInScope({ hf, caller }, params.id ?? "");
      const { id, type, queue, payload, result, checkpoint } = job;
      return new Reply({ id, payload, result, checkpoint }, 200, {}, { jobId: id, type, queue });
    },
  }),
];
