/** Gates: rates, cooldowns and breakers that hold jobs back. */
import { z } from "zod";
import { notFound } from "../http/http-error.ts";
import { validate } from "../http/validate.ts";
import { route } from "./route.ts";
import { category, defined, DONE, done, durationMs, instant, list, name, why } from "./words.ts";

const target = z.union([name, z.strictObject({ queue: name, group: name.optional() })]);
const rate = z.strictObject({
  limit: z.int().min(1),
  perMs: z.int().min(1),
  burst: z.int().min(0).optional(),
  per: z.literal("group").optional(),
});

const gate = z
  .looseObject({
    ...{ name, state: z.enum(["closed", "open", "half-open"]), tokens: z.number().nullable() },
    ...{ failures: z.number(), openUntil: instant.nullable(), cooldownUntil: instant.nullable() },
  })
  .meta({ id: "Gate" });

const base = { scope: "whole", audit: "library", query: null, answer: done } as const;

export const gateRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/gates", role: "viewer", scope: "whole", audit: null },
    ...{ summary: "Gates: state, tokens, failures, open until.", query: null, body: null },
    answer: list(gate),
    run: async ({ hf }) => ({ items: await hf.gates.list(), nextCursor: null }),
  }),
  route({
    ...{ method: "GET", path: "/api/v1/gates/:name", role: "viewer", scope: "whole", audit: null },
    summary: "One gate; of a gate per group, that of the group which is named.",
    ...{ query: z.strictObject({ group: name.optional() }), body: null, answer: gate },
    async run({ hf, params, query }) {
      const named = validate(name, params.name, "path");
      const found = await hf.gates.get(named, defined(query));
      if (found === null) throw notFound("such gate");
      return found;
    },
  }),
  route({
    ...{ ...base, method: "PUT", path: "/api/v1/gates/:name", role: "admin" },
    summary: "Makes or changes a gate.",
    body: z.strictObject({
      queue: z.union([target, z.array(target).max(1_000)]).optional(),
      rate: z.union([rate, z.array(rate).max(10)]).optional(),
      per: z.literal("group").optional(),
      cooldown: z.union([z.boolean(), z.strictObject({ maxMs: durationMs.optional() })]).optional(),
      breaker: z
        .strictObject({
          ...{ failures: z.int().min(1), withinMs: durationMs.min(1), openMs: durationMs.min(1) },
          ...{ probes: z.int().min(1).optional(), countsAsDown: z.array(category).optional() },
        })
        .optional(),
      ...why,
    }),
    async run({ hf, params, body, caller }) {
      const { reason, ...options } = body;
      const told = defined({ reason, by: caller.by });
      const named = validate(name, params.name, "path");
      await hf.gates.set(named, defined(options), told);
      return DONE;
    },
  }),
  route({
    ...{ ...base, method: "DELETE", path: "/api/v1/gates/:name", role: "admin", body: null },
    summary: "Removes a gate: nothing is held back by it any more.",
    async run({ hf, params, caller }) {
      const named = validate(name, params.name, "path");
      if (!(await hf.gates.remove(named, { by: caller.by }))) throw notFound("such gate");
      return DONE;
    },
  }),
  route({
    ...{ ...base, method: "POST", path: "/api/v1/gates/:name/force", role: "operator" },
    summary: "Opens or closes the breaker of a gate by hand; auto lets it decide again.",
    body: z.strictObject({ state: z.enum(["open", "closed", "auto"]), ...why }),
    async run({ hf, params, body, caller }) {
      const { state, ...given } = body;
      const named = validate(name, params.name, "path");
      await hf.gates.force(named, state, defined({ ...given, by: caller.by }));
      return DONE;
    },
  }),
];
