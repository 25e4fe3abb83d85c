/** How the server and the store are: health, metrics, overview, events, types, doctor, the API itself. */
import { z } from "zod";
import { HttpError } from "../http/http-error.ts";
import { isStoreAway } from "../http/error-answer.ts";
import { openApiDocument } from "../openapi/document.ts";
import { docsPage, docsStyle } from "../openapi/docs-page.ts";
import { overviewFor } from "../overview.ts";
import type { Services } from "../services.ts";
import { actionView } from "./job-schemas.ts";
import { findings } from "./doctor.ts";
import { operationView } from "./operation-schemas.ts";
import { queueView } from "./queues.ts";
import { Reply, route, type Call } from "./route.ts";
import { sees } from "../auth/caller.ts";
import { sessionOf } from "../auth/sessions.ts";
import { category, count, instant, list, name, status } from "./words.ts";

const PING_MS = 2_000;
/** Both are of the routes, which stay as they are, and take the loop tens of milliseconds. */
const apiDocument = onceEach(({ routes, basePath }) =>
  JSON.stringify(openApiDocument(routes, basePath)),
);
const apiPage = onceEach(({ routes, basePath }) => docsPage(routes, basePath));
/** A loop that stands still for so long does not answer; a process that sees that afterwards is not well. */
const SLOW_LOOP_S = 5;

export const overview = z
  .strictObject({
    at: instant,
    totals: z.strictObject({
      ...{ ready: count, delayed: count, processing: count, succeeded: count, dead: count },
      ...{ cancelled: count, retrying: count, oldestReadyAt: instant.nullable() },
    }),
    queueCount: count,
    queues: z.array(queueView),
    workers: z.strictObject({ count, slots: count, active: count, quiet: count }),
    store: z.strictObject({ name: z.string(), latencyMs: z.number() }),
    gates: z.array(
      z.strictObject({
        ...{ name: z.string(), state: z.string(), failures: count, queues: z.array(z.string()) },
        ...{ openUntil: instant.nullable(), cooldownUntil: instant.nullable() },
      }),
    ),
    faults: z.array(
      z.strictObject({
        ...{ fingerprint: z.string().nullable(), type: z.string(), category: category.nullable() },
        ...{ message: z.string().nullable(), count, firstAt: instant, lastAt: instant },
        state: z.enum(["open", "resolved", "ignored", "back"]),
      }),
    ),
    deadByCategory: z.record(z.string(), count),
    operations: z.array(operationView),
    actions: z.array(actionView),
    held: z.boolean(),
  })
  .meta({ id: "Overview" });

/** Anyone may ask: however many do, the store is asked once at a time. */
async function pinged({ hf, services }: Pick<Call, "hf" | "services">): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), PING_MS);
  const answered = services.shared
    .together("ping", () => hf.tools.ping())
    .then(
      () => true,
      () => false,
    );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

export const systemRoutes = [
  route({
    ...{ method: "GET", path: "/healthz", role: "anyone", scope: "own", audit: null, query: null },
    ...{
      body: null,
      summary: "Is this process alive? The store is not asked.",
      statuses: [200, 503],
    },
    answer: z.strictObject({ ok: z.boolean(), loopLagSeconds: z.number() }),
    async run({ services }) {
      const loopLagSeconds = services.metrics.loopLag();
      const ok = loopLagSeconds < SLOW_LOOP_S;
      return new Reply({ ok, loopLagSeconds }, ok ? 200 : 503);
    },
  }),
  route({
    ...{ method: "GET", path: "/readyz", role: "anyone", scope: "own", audit: null, query: null },
    ...{ body: null, summary: "Does the store answer, and do this process's workers lease?" },
    statuses: [200, 503],
    answer: z.strictObject({ ok: z.boolean(), store: z.boolean(), workers: z.boolean() }),
    async run(call) {
      const store = await pinged(call);
      const health = call.hf.health();
      const workers = health.workers.every(({ ok }) => ok);
      const ok = store && workers && health.ok;
      return new Reply({ ok, store, workers }, ok ? 200 : 503, ok ? {} : { "retry-after": "2" });
    },
  }),
  route({
    ...{ method: "GET", path: "/metrics", role: "viewer", scope: "own", audit: null, query: null },
    ...{ body: null, summary: "Metrics in the text format of Prometheus." },
    answer: { contentType: "text/plain" },
    async run({ services, caller }) {
      const snapshot = await services.overview.read().catch((error: unknown) => {
        if (isStoreAway(error)) return null;
        throw error;
      });
      const text = await services.metrics.text(snapshot, caller, services.now());
      // What batteries add is not by scope; one that fails hides nothing else.
      const mounts = caller.queues === null ? (services.options.mounts ?? []) : [];
      const added = await Promise.all(
        mounts.map(async ({ name, metrics }) => {
          const part = metrics?.().catch((error: unknown) => {
            services.logger.warn(`the mount ${name} gave no metrics`, { error });
          });
          return (await part) ?? "";
        }),
      );
      const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
      return new Response(text + added.join(""), { headers });
    },
  }),
  route({
    ...{ method: "GET", path: "/api/openapi.json", role: "viewer", scope: "own", audit: null },
    ...{ summary: "This API, as OpenAPI 3.1.", query: null, body: null },
    answer: { contentType: "application/json" },
    async run({ services }) {
      const text = apiDocument(services);
      return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
    },
  }),
  route({
    ...{ method: "GET", path: "/api/docs", role: "viewer", scope: "own", audit: null, query: null },
    ...{ body: null, summary: "This API, to read.", answer: { contentType: "text/html" } },
    async run({ services }) {
      const text = apiPage(services);
      return new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } });
    },
  }),
  route({
    ...{ method: "GET", path: "/api/docs.css", role: "anyone", scope: "own", audit: null },
    ...{
      query: null,
      body: null,
      summary: "The style of that page.",
      answer: { contentType: "text/css" },
    },
    run: async () =>
      new Response(docsStyle, { headers: { "content-type": "text/css; charset=utf-8" } }),
  }),
  route({
    ...{ method: "GET", path: "/api/v1/overview", role: "viewer", scope: "own", audit: null },
    ...{ summary: "All the first screen needs.", query: null, body: null, answer: overview },
    run: async ({ hf, services, caller }) =>
      overviewFor(hf, await services.overview.read(), caller),
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/events",
      role: "viewer",
      scope: "own",
      audit: null,
      body: null,
    },
    summary:
      "Server-sent events: overview each second, store, operations, and jobs that fit the query; resumes after Last-Event-ID.",
    query: z.strictObject({
      jobs: z.boolean().optional().meta({ description: "true: also changes of jobs" }),
      ...{ queue: name.optional(), type: name.optional(), group: name.optional() },
      status: z.array(status).max(5).optional(),
    }),
    answer: { contentType: "text/event-stream" },
    async run({ services, caller, query, request }) {
      const { jobs, ...wish } = query;
      if (wish.queue !== undefined && !sees(caller, wish.queue)) {
        throw new HttpError(404, "not_found", "there is no such queue here");
      }
      const lastId = request.headers.get("last-event-id");
      const wantsJobs = jobs ?? Object.values(wish).some((part) => part !== undefined);
      const session = caller.via === "session" ? sessionOf(request) : null;
      const stream = services.hub.listen({
        ...{ caller, session, lastId },
        jobs: wantsJobs ? wish : null,
      });
      return new Response(stream, {
        headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
      });
    },
  }),
  route({
    ...{
      method: "GET",
      path: "/api/v1/types",
      role: "viewer",
      scope: "own",
      audit: null,
      query: z.strictObject({
        schemas: z
          .boolean()
          .optional()
          .meta({ description: "true: with the JSON schemas of payloads, where they can be had" }),
      }),
    },
    ...{ body: null, summary: "The job types that this process and live workers know." },
    answer: list(
      z.strictObject({
        ...{ type: z.string(), queue: z.string().nullable(), isHandled: z.boolean() },
        ...{ hasSchema: z.boolean(), maxAttempts: count.nullable(), mayEnqueue: z.boolean() },
        schema: z.looseObject({}).nullable(),
      }),
    ),
    async run({ hf, caller, services, query }) {
      const { enqueue } = services.options;
      const known = hf.tools.types();
      const workers = await hf.workers.list();
      const handled = new Set(workers.flatMap(({ types }) => types));
      const may = (type: string, isKnown: boolean) =>
        enqueue === "any" || (enqueue === undefined ? isKnown : enqueue.includes(type));
      const own = known.map(({ type, queue, isHandled, hasSchema, maxAttempts }) => ({
        ...{ type, queue, hasSchema, maxAttempts, mayEnqueue: may(type, true) },
        isHandled: isHandled || handled.has(type),
        schema: query.schemas === true ? hf.tools.payloadSchema(type) : null,
      }));
      const names = new Set(known.map(({ type }) => type));
      const others = [...handled]
        .filter((type) => !names.has(type))
        .map((type) => ({
          ...{ type, queue: null, isHandled: true, hasSchema: false, maxAttempts: null },
          ...{ mayEnqueue: may(type, false), schema: null },
        }));
      const items = [...own, ...others].filter(({ queue }) => sees(caller, queue));
      return { items, nextCursor: null };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/doctor", role: "viewer", scope: "whole", audit: null },
    ...{ summary: "What is wrong, and what to do about it.", query: null, body: null },
    answer: list(
      z.strictObject({
        level: z.enum(["ok", "warning", "problem"]),
        what: z.string(),
        advice: z.string().nullable(),
      }),
    ),
    run: async (call) => ({ items: await findings(call), nextCursor: null }),
  }),
];

function onceEach(make: (services: Services) => string): (services: Services) => string {
  const made = new WeakMap<Services, string>();
  return (services) => {
    const text = made.get(services) ?? make(services);
    made.set(services, text);
    return text;
  };
}
