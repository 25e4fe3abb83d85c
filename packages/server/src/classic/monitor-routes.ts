/** Systems 3 and 4: health, the summary of dead letters, stats and the monitor. */
import type { Holdfast, JobListing } from "holdfast";
import { z } from "zod";
import { route, type Route } from "../routes/route.ts";
import { listingView } from "../routes/views.ts";
import { count, defined, instant, name } from "../routes/words.ts";

const DAY_MS = 86_400_000;
const MOST_LOOKED_AT = 2_000;
const RECENT = 20;
const counts = z.record(z.string(), count);
/** A sync has a queue of its own: `?queue=hubspot`. */
const ofQueue = z.strictObject({ queue: name.optional() });

/** The newest of a day, as many as can be looked at, and how many there are. */
async function finishedInDay(
  hf: Holdfast,
  now: number,
  queue: string | undefined,
): Promise<{ readonly newest: readonly JobListing[]; readonly count: number }> {
  const found: JobListing[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof hf.jobs>> = await hf.jobs({
      ...{ status: "succeeded", finishedFrom: new Date(now - DAY_MS), limit: 200, cursor },
      ...{ ...defined({ queue }), without: "payloads" },
    });
    found.push(...page.jobs);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MOST_LOOKED_AT);
  if (cursor === null) return { newest: found, count: found.length };
  // By whole hours: too many by those of one at most, where the jobs themselves are too many to be counted.
  const { finished } = await hf.stats({ lastMs: DAY_MS, ...defined({ queue }) });
  return { newest: found, count: Math.max(found.length, finished.succeeded) };
}

async function numbersOf(hf: Holdfast, queue: string | undefined) {
  const queues = Object.entries(await hf.counts());
  const all = queues.flatMap(([name, one]) => (queue === undefined || name === queue ? [one] : []));
  const sum = (pick: "ready" | "delayed" | "processing" | "retrying" | "dead") =>
    all.reduce((total, numbers) => total + numbers[pick], 0);
  const failed = sum("retrying");
  const pending = Math.max(0, sum("ready") + sum("delayed") - failed);
  return { pending, processing: sum("processing"), failed, dead: sum("dead") };
}

export function monitorRoutes(): readonly Route[] {
  const base = {
    role: "viewer",
    scope: "whole",
    isUnwrapped: true,
    audit: null,
    body: null,
  } as const;
  return [
    route({
      ...{ ...base, method: "GET", path: "/api/health", query: null },
      summary: "System 3: store, queue depths, limiter, cooldown, circuit, dead letters.",
      answer: z.strictObject({
        store: z.strictObject({ name: z.string(), ok: z.boolean() }),
        queues: z.record(
          z.string(),
          z.strictObject({ waiting: count, delayed: count, active: count }),
        ),
        rateLimiter: z.record(z.string(), z.unknown()),
        cooldownUntil: instant.nullable(),
        circuit: z.record(z.string(), z.string()),
        dlq: z.strictObject({ total: count, byCategory: counts }),
      }),
      async run({ hf, services }) {
        const [info, { counts: all, dead }] = await Promise.all([
          hf.info(),
          services.overview.read(),
        ]);
        const queues = Object.entries(all).map(([queue, { ready, delayed, processing }]) => [
          queue,
          { waiting: ready, delayed, active: processing },
        ]);
        const { total = 0, byCategory = {} } = dead ?? {};
        const gates = await hf.gates.list();
        const cooling = gates.flatMap(({ cooldownUntil }) => cooldownUntil?.getTime() ?? []);
        const limiter = gates.map(({ name, tokens }) => [name, { tokens }] as const);
        return {
          ...{ store: { name: info.name, ok: true }, queues: Object.fromEntries(queues) as object },
          rateLimiter: Object.fromEntries(limiter),
          cooldownUntil: cooling.length === 0 ? null : new Date(Math.max(...cooling)),
          circuit: Object.fromEntries(gates.map(({ name, state }) => [name, state])),
          dlq: { total, byCategory },
        };
      },
    }),
    route({
      ...{ ...base, method: "GET", path: "/api/dlq/summary", query: null },
      summary: "System 3: dead letters by category and simulation, which is a group.",
      answer: z.strictObject({ total: count, byCategory: counts, bySimulation: counts }),
      async run({ hf }) {
        const { total, byCategory, byGroup } = await hf.deadLetters.summary();
        const named = Object.entries(byGroup).filter(([group]) => group !== "");
        return { total, byCategory, bySimulation: Object.fromEntries(named) };
      },
    }),
    route({
      ...{ ...base, method: "GET", path: "/api/queue/stats", query: ofQueue },
      summary: "System 4: counts by status; completed ones of the last 24 hours.",
      answer: z.strictObject({
        ...{ pending: count, processing: count, failed: count, dead: count, completed: count },
      }),
      async run({ hf, services, query: { queue } }) {
        const [numbers, finished] = await Promise.all([
          numbersOf(hf, queue),
          finishedInDay(hf, services.now(), queue),
        ]);
        return { ...numbers, completed: finished.count };
      },
    }),
    route({
      ...{ ...base, method: "GET", path: "/api/queue/monitor", query: ofQueue },
      summary: "System 4: counts, recent failures, average processing time and lag.",
      answer: z.strictObject({
        counts: z.strictObject({
          ...{ pending: count, failed: count, processing: count, completed: count },
        }),
        failed: z.array(
          z.strictObject({
            ...{ id: z.string(), operation: z.string(), retry_count: count, max_retries: count },
            ...{ last_error: z.string().nullable(), next_retry_at: instant },
          }),
        ),
        averageProcessingMs: z.number().nullable(),
        queueLagMs: z.number().nullable(),
      }),
      async run({ hf, services, query: { queue } }) {
        const now = services.now();
        const waiting = { ...defined({ queue }), status: "queued" } as const;
        const [{ dead: _, ...numbers }, finished, retrying, fresh] = await Promise.all([
          numbersOf(hf, queue),
          finishedInDay(hf, now, queue),
          hf.jobs({ ...waiting, retrying: true, limit: RECENT }),
          hf.jobs({ ...waiting, delayed: false, retrying: false, order: "oldest", limit: 1 }),
        ]);
        const times = finished.newest.flatMap(({ startedAt, finishedAt }) =>
          startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : [],
        );
        const total = times.reduce((sum, ms) => sum + ms, 0);
        const [oldest] = fresh.jobs;
        return {
          counts: { ...numbers, completed: finished.count },
          failed: retrying.jobs.map((given) => {
            const { id, type, attempts, maxAttempts, error, runAt } = listingView(hf, given);
            return {
              ...{ id, operation: type, retry_count: attempts, max_retries: maxAttempts - 1 },
              ...{ last_error: error?.message ?? null, next_retry_at: runAt },
            };
          }),
          averageProcessingMs: times.length === 0 ? null : Math.round(total / times.length),
          queueLagMs: oldest ? Math.max(0, now - oldest.runAt.getTime()) : null,
        };
      },
    }),
  ];
}
