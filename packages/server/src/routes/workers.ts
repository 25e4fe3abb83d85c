/** The fleet. */
import type { FleetWorker } from "holdfast";
import { z } from "zod";
import { sees, type Caller } from "../auth/caller.ts";
import { notFound } from "../http/http-error.ts";
import { route, type Call } from "./route.ts";
import { count, DONE, done, instant, list, why } from "./words.ts";

const worker = z
  .strictObject({
    id: z.string(),
    host: z.string(),
    pid: count,
    version: z.string().nullable(),
    queues: z.array(z.string()),
    types: z.array(z.string()),
    slots: count,
    active: count,
    running: z.array(z.strictObject({ id: z.string(), type: z.string() })),
    leaseMs: count,
    isQuiet: z.boolean(),
    loopDelayMs: z.number().nullable(),
    memoryBytes: z.number().nullable(),
    startedAt: instant,
    seenAt: instant,
  })
  .meta({ id: "Worker" });

/** Of a scope: a worker is seen by those who see one of its queues, commanded by those who see all. */
async function workerInScope({ hf, caller, params }: Call): Promise<string> {
  const found = (await hf.workers.list()).find(({ id }) => id === params.id);
  if (!found || !found.queues.every((queue) => sees(caller, queue))) throw notFound("such worker");
  return found.id;
}

/** Whose queues a type and a running job are of is not told, so they are shown to those who see all of them. */
function asSeen({ queues, types, running }: FleetWorker, caller: Caller) {
  const own = queues.filter((queue) => sees(caller, queue));
  return own.length === queues.length
    ? { queues, types, running }
    : { queues: own, types: [], running: [] };
}

function command(verb: "quiet" | "resume", summary: string) {
  return route({
    ...{ method: "POST", path: `/api/v1/workers/:id/${verb}`, role: "operator", scope: "own" },
    ...{ audit: "library", summary, query: null, body: z.strictObject({ ...why }) },
    ...{ isBodyOptional: true, answer: done },
    async run(call) {
      const id = await workerInScope(call);
      await call.hf.workers[verb](id, { ...call.body, by: call.caller.by });
      return DONE;
    },
  });
}

export const workerRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/workers", role: "viewer", scope: "own", audit: null },
    ...{ summary: "Every live worker.", query: null, body: null, answer: list(worker) },
    async run({ hf, caller }) {
      const all = await hf.workers.list();
      const own = all.filter(({ queues }) => queues.some((queue) => sees(caller, queue)));
      const items = own.map((one) => ({
        ...{ id: one.id, host: one.host, pid: one.pid, version: one.version },
        ...{ slots: one.slots, active: one.active, ...asSeen(one, caller) },
        ...{ leaseMs: one.leaseMs, isQuiet: one.isQuiet },
        ...{ loopDelayMs: one.loopDelayMs, memoryBytes: one.memoryBytes },
        ...{ startedAt: one.startedAt, seenAt: one.seenAt },
      }));
      return { items, nextCursor: null };
    },
  }),
  command("quiet", "A worker leases nothing more; what it runs goes on."),
  command("resume", "A quiet worker leases again."),
];
