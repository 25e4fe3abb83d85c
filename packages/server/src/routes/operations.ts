/** Operations: the same thing done to many jobs. */
import type { Operation } from "holdfast";
import { z } from "zod";
import { needRole, sees } from "../auth/caller.ts";
import { invalid, notFound } from "../http/http-error.ts";
import { filterOf, jobFilter } from "./job-filter.ts";
import {
  choice,
  operationAnswer,
  operationView,
  planAnswer,
  planned,
  startOptions,
} from "./operation-schemas.ts";
import { countPlan } from "./plan-limit.ts";
import { Reply, route, type Call } from "./route.ts";
import { needQueueInScope } from "./scope.ts";
import { list } from "./words.ts";

const PER_PAGE = 200;

async function operationInScope({ hf, caller, params }: Call): Promise<Operation> {
  const operation = await hf.operations.get((params.id ?? "").slice(0, 65));
  if (!sees(caller, operation.filter.queue as string | undefined)) throw notFound("such operation");
  return operation;
}

function needReason(reason: string | undefined): void {
  if (reason !== undefined && reason.trim() !== "") return;
  throw invalid([
    { path: "body.reason", message: "say why: an operation is started with a reason" },
  ]);
}

function command(verb: "pause" | "resume" | "abort") {
  return route({
    ...{ method: "POST", path: `/api/v1/operations/:id/${verb}`, role: "operator", scope: "own" },
    ...{ audit: "library", summary: `Tells an operation to ${verb}.`, query: null, body: null },
    answer: operationView,
    async run(call) {
      const operation = await operationInScope(call);
      if (operation.action === "remove")
        needRole(call.caller, "admin", "an operation that removes jobs");
      await operation[verb]();
      return operationAnswer(await call.hf.operations.get(operation.id));
    },
  });
}

export const operationRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/operations", role: "viewer", scope: "own", audit: null },
    ...{
      summary: "Operations, newest first.",
      query: null,
      body: null,
      answer: list(operationView),
    },
    async run({ hf, caller }) {
      const all = await hf.operations.list();
      const own = all.filter(({ filter }) => sees(caller, filter.queue as string | undefined));
      return { items: own.slice(0, PER_PAGE).map(operationAnswer), nextCursor: null };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/operations/:id", role: "viewer", scope: "own", audit: null },
    ...{ summary: "One operation.", query: null, body: null, answer: operationView },
    run: async (call) => operationAnswer(await operationInScope(call)),
  }),
  route({
    ...{ method: "POST", path: "/api/v1/operations", role: "operator", scope: "own" },
    ...{ audit: "library", statuses: [200, 201], query: null },
    summary:
      "Plans an operation; start: true with a reason starts it. To remove jobs takes an admin.",
    body: z.strictObject({
      action: z.enum(["retry", "cancel", "remove", "reschedule"]),
      filter: z.strictObject(jobFilter),
      ...choice,
      start: z.boolean().optional(),
      ...startOptions,
    }),
    answer: planned,
    async run(call) {
      const { hf, caller, body } = call;
      const { action, filter: given, strategy, limit, perCategory, seed, start, ...how } = body;
      if (action === "remove") needRole(caller, "admin", "an operation that removes jobs");
      if (start === true) needReason(how.reason);
      needQueueInScope(caller, given.queue);
      countPlan(call);
      const plan = await hf.operations.plan({
        ...{ action, filter: filterOf(given), strategy, limit, perCategory, seed },
      });
      if (start !== true) return { plan: planAnswer(call, plan), operation: null };
      const operation = await plan.start({ ...how, by: caller.by });
      return new Reply(
        { plan: planAnswer(call, plan), operation: operationAnswer(operation) },
        201,
      );
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/operations/:id/start", role: "operator", scope: "own" },
    ...{ audit: "library", summary: "Starts exactly what was planned.", query: null },
    ...{ body: z.strictObject(startOptions), answer: operationView },
    async run(call) {
      const { hf, caller, body } = call;
      needReason(body.reason);
      const operation = await operationInScope(call);
      if (operation.action === "remove")
        needRole(caller, "admin", "an operation that removes jobs");
      countPlan(call);
      return operationAnswer(await hf.operations.start(operation.id, { ...body, by: caller.by }));
    },
  }),
  ...[command("pause"), command("resume"), command("abort")],
];
