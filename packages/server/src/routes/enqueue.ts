/** New jobs over HTTP: of types that the options allow, one or many in a call. */
import type { EnqueueAnswer, EnqueueOptions, Holdfast, Receipt } from "holdfast";
import { z } from "zod";
import { sees, type Caller } from "../auth/caller.ts";
import { errorAnswer } from "../http/error-answer.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import type { Services } from "../services.ts";
import { newJob, receipt } from "./job-schemas.ts";
import { Reply, route } from "./route.ts";
import { dateOf, defined } from "./words.ts";

const MOST_ITEMS = 1_000;

type Given = z.output<typeof newJob>;

const refusedItem = z.strictObject({
  status: z.literal("refused"),
  error: z.looseObject({ code: z.string(), message: z.string() }),
});

export const enqueueRoutes = [
  route({
    ...{ method: "POST", path: "/api/v1/jobs", role: "operator", scope: "own", audit: "gathered" },
    summary: "Enqueues one job, or several as items: 201 added, 200 duplicate, 409 conflict.",
    query: null,
    body: z.union([newJob, z.strictObject({ items: z.array(newJob).min(1).max(MOST_ITEMS) })]),
    answer: z.union([receipt, z.strictObject({ items: z.array(z.union([receipt, refusedItem])) })]),
    statuses: [200, 201],
    async run({ hf, caller, services, body, address }) {
      const who = { caller, address };
      if ("items" in body) {
        for (const item of body.items) checkAllowed(services, caller, item);
        const answers = await hf.enqueueAll(body.items.map(itemOf));
        const added = answers.filter(({ status }) => status === "added").length;
        services.audit.gather(who, { action: "enqueue" }, body.items.length);
        return new Reply({ items: answers.map((one) => answerOf(hf, one)) }, added > 0 ? 201 : 200);
      }
      checkAllowed(services, caller, body);
      const made = await hf.enqueue(body.type, payloadOf(body), optionsWithoutType(body));
      services.audit.gather(who, { action: "enqueue" });
      return new Reply(receiptOf(made), made.status === "duplicate" ? 200 : 201);
    },
  }),
];

/** A type is looked up among those that are allowed, and nowhere else. */
export function checkAllowed(
  { hf, options }: Services,
  caller: Caller,
  { type, queue }: Pick<Given, "type" | "queue">,
): void {
  const known = hf.tools.type(type);
  const target = queue ?? known?.queue;
  if (!sees(caller, target)) throw notFound("such queue");
  const { enqueue } = options;
  if (enqueue === "any") return;
  if (enqueue === undefined ? known !== null : enqueue.includes(type)) return;
  throw new HttpError(
    422,
    "type_not_allowed",
    "jobs of this type cannot be enqueued over HTTP here",
  );
}

export function optionsOf(given: Omit<Given, "type">): EnqueueOptions {
  const { payload: _, runAt, expiresAt, ...options } = given;
  const dated: object = { ...options, runAt: dateOf(runAt), expiresAt: dateOf(expiresAt) };
  // Two words for one thing are refused by the library, which says so.
  return defined(dated) as EnqueueOptions;
}

function optionsWithoutType({ type: _, ...given }: Given): EnqueueOptions {
  return optionsOf(given);
}

function itemOf(given: Given) {
  return { type: given.type, payload: payloadOf(given), ...optionsWithoutType(given) };
}

/** A payload that is left out is empty; null is one like any other. */
export function payloadOf({ payload }: Pick<Given, "payload">): unknown {
  return payload === undefined ? {} : payload;
}

export function receiptOf({ id, status, queue, type, jobStatus }: Receipt) {
  return { id, status, queue, type, jobStatus };
}

function answerOf(hf: Holdfast, one: EnqueueAnswer<unknown, Receipt["status"]>) {
  if (one.status !== "refused") return receiptOf(one);
  const { code, message, extra } = errorAnswer(one.error);
  return { status: "refused", error: { code, message: hf.tools.redact.text(message), ...extra } };
}
