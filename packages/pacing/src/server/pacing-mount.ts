/**
 * Simulations over HTTP, at the paths of system 3, as a mount of `@holdfast/server`:
 *
 *     createServer(hf, { mounts: [pacingMount(pacing)] })
 */
import { HttpError, route, z, type Call, type Mount, type Route } from "@holdfast/server";
import type { Pacing } from "../pacing.ts";
import type { ScenarioKnobs } from "../scenario.ts";
import type { SimulationOptions } from "../simulation-options.ts";
import type { SimulationView } from "../simulation-view.ts";
import { metricsText } from "./metrics-text.ts";
import { metricsWithSource } from "./metrics-with-source.ts";
import { count, curve, deadLetters, instant, metrics, segments, simulation } from "./schemas.ts";

export interface PacingMountOptions {
  /** False: `metrics2` answers from the ledger's store alone. Default true. */
  readonly live?: boolean | undefined;
}

const BASE = "/api/simulations";
const MOST_REPLAYS = 5;
const why = { by: z.string().max(150).optional(), reason: z.string().max(500).optional() };
const whyBody = z.strictObject(why);
const config = z.strictObject({
  overrides: z.record(z.string(), z.unknown()),
  params: z.record(z.string(), z.unknown()),
});
const page = {
  from: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
};
const common = { scope: "whole", isUnwrapped: true } as const;
const reading = { ...common, method: "GET", role: "viewer", audit: null, body: null } as const;

export function pacingMount(pacing: Pacing, options: PacingMountOptions = {}): Mount {
  return {
    name: "pacing",
    routes: [...ofAll(pacing), ...ofConfig(pacing), ...ofOne(pacing, options), ...moves(pacing)],
    metrics: () => metricsText(pacing),
  };
}

function ofAll(pacing: Pacing): readonly Route[] {
  return [
    route({
      ...{ ...reading, path: BASE, summary: "Simulations, by id." },
      query: z.strictObject({ limit: page.limit, cursor: z.string().optional() }),
      answer: z.strictObject({
        simulations: z.array(simulation),
        nextCursor: z.string().nullable(),
      }),
      async run({ query: { limit, cursor } }) {
        return pacing.list({
          ...(limit !== undefined && { limit: Math.min(200, limit) }),
          ...(cursor !== undefined && { cursor }),
        });
      },
    }),
    route({
      ...{ ...common, method: "POST", path: BASE, role: "operator", query: null, audit: "library" },
      summary: "Plans a simulation; `begin: true` starts it, too.",
      body: z.looseObject({ records: z.number(), begin: z.boolean().optional(), ...why }),
      answer: simulation,
      async run({ body: { begin, by: _, reason, ...given }, caller }) {
        const about = { by: caller.by, ...(reason !== undefined && { reason }) };
        const made = await pacing.create(given as unknown as SimulationOptions, about);
        return begin === true ? pacing.start(made.id, about) : made;
      },
    }),
  ];
}

/** What an admin may turn while simulations run. */
function ofConfig(pacing: Pacing): readonly Route[] {
  return [undefined, "id" as const].flatMap((of) => {
    const path = of === undefined ? `${BASE}/config` : `${BASE}/:id/config`;
    const target = of === undefined ? "all simulations" : "a simulation";
    const idOf = ({ params }: Pick<Call, "params">) =>
      of === undefined ? {} : { id: params["id"]! };
    const writing = { ...common, path, role: "admin", query: null, audit: "library" } as const;
    return [
      route({
        ...{ ...reading, path, query: null, answer: config },
        summary: `The knobs of ${target}: overrides, and what is in force.`,
        run: (call) => pacing.config(idOf(call).id),
      }),
      route({
        ...{ ...writing, method: "PUT", answer: config },
        summary: `Turns knobs of ${target}, for every job that begins from now on.`,
        body: z.looseObject({}),
        run: (call) =>
          pacing.setConfig(call.body as ScenarioKnobs, { ...idOf(call), by: call.caller.by }),
      }),
      route({
        ...{ ...writing, method: "DELETE", body: null, answer: config },
        summary: `Clears what was said for ${target}.`,
        run: (call) => pacing.clearConfig({ ...idOf(call), by: call.caller.by }),
      }),
    ];
  });
}

function ofOne(pacing: Pacing, options: PacingMountOptions): readonly Route[] {
  const path = `${BASE}/:id`;
  const id = ({ params }: Pick<Call, "params">) => params["id"]!;
  return [
    route({
      ...{ ...reading, path, query: null, answer: simulation, summary: "A simulation." },
      run: async (call) => found(await pacing.get(id(call))),
    }),
    route({
      ...{ ...reading, path: `${path}/metrics`, query: null, answer: metrics },
      summary: "Progress, counters, segments, budgets and what was thinned.",
      run: (call) => pacing.metrics(id(call)),
    }),
    route({
      ...{ ...reading, path: `${path}/metrics2`, query: null },
      summary: "Progress and counters with their source, also while the store is away.",
      answer: z.looseObject({ source: z.string(), records_processed: count }),
      run: (call) => metricsWithSource(pacing, id(call), options.live !== false),
    }),
    route({
      ...{ ...reading, path: `${path}/segments`, query: z.strictObject(page), answer: segments },
      summary: "Segments in order, with what became of them.",
      run: (call) => pacing.segments(id(call), call.query),
    }),
    route({
      ...{ ...reading, path: `${path}/curve`, answer: curve },
      query: z.strictObject({ parts: page.limit }),
      summary: "Planned against actual.",
      run: (call) => pacing.curve(id(call), call.query.parts),
    }),
    route({
      ...{ ...reading, path: `${path}/timestamps`, query: z.strictObject(page) },
      summary: "When records are due: the first in full, then differences in milliseconds.",
      answer: z.strictObject({ from: count, first: instant.nullable(), deltasMs: z.array(count) }),
      run: (call) => pacing.instants(id(call), call.query),
    }),
    route({
      ...{ ...reading, path: `${path}/dlq`, query: null, answer: deadLetters },
      summary: "Dead jobs: counts, samples, and whether they agree with the counters.",
      async run(call) {
        const { samples, ...rest } = await pacing.deadLetters(id(call));
        const shown = samples.map(({ id: job, type, queue, error }) => ({
          ...{ id: job, type, queue, category: error?.category ?? null },
          message: error ? call.hf.tools.redact.text(error.message) : null,
        }));
        return { ...rest, samples: shown };
      },
    }),
    replayRoute(pacing),
  ];
}

function replayRoute(pacing: Pacing): Route {
  return route({
    ...{ ...common, method: "POST", path: `${BASE}/:id/dlq/replay`, role: "operator" },
    ...{ query: null, audit: "library", isBodyOptional: true },
    summary: "Runs dead jobs again: five calls in thirty seconds for each caller.",
    body: z.strictObject({
      ...why,
      strategy: z.enum(["oldest", "newest", "random"]).optional(),
      limit: z.int().min(1).max(10_000).optional(),
      perCategory: z.int().min(1).optional(),
      category: z.string().optional(),
      useFullRetry: z.boolean().optional(),
      dryRun: z.boolean().optional(),
    }),
    answer: z.strictObject({
      operation: z.string().nullable(),
      count,
      byCategory: z.record(z.string(), count),
    }),
    async run(call) {
      limitReplays(call);
      const { by: _, ...given } = call.body ?? {};
      const options = { ...given, by: call.caller.by } as Parameters<Pacing["replay"]>[1];
      const {
        operation,
        count: size,
        byCategory,
      } = await pacing.replay(call.params["id"]!, options);
      return { operation, count: size, byCategory };
    },
  });
}

function limitReplays({ services, caller, address }: Call): void {
  const key = `replay:${caller.via === "anonymous" ? address : caller.key}`;
  const { count: made, freeInMs } = services.plans.of(key);
  if (made >= MOST_REPLAYS) {
    throw new HttpError(429, "too_many_replays", "at most 5 replays in 30 seconds", {
      extra: { retryAfterMs: freeInMs },
      headers: { "retry-after": String(Math.max(1, Math.ceil(freeInMs / 1000))) },
    });
  }
  services.plans.add(key, MOST_REPLAYS + 1);
}

function moves(pacing: Pacing): readonly Route[] {
  const words = {
    start: "Starts a simulation: a job expands its first segment.",
    pause: "Holds a simulation: what runs goes on, nothing else begins.",
    resume: "Lets a paused simulation go on.",
    abort: "Ends a simulation for good.",
  } as const;
  return (Object.keys(words) as (keyof typeof words)[]).map((how) =>
    route({
      ...{ ...common, method: "POST", path: `${BASE}/:id/${how}`, role: "operator", query: null },
      ...{ audit: "library", body: whyBody, isBodyOptional: true, summary: words[how] },
      answer: simulation,
      run({ params, body, caller }): Promise<SimulationView> {
        const reason = (body as { reason?: string } | null)?.reason;
        const about = { by: caller.by, ...(reason !== undefined && { reason }) };
        return pacing[how](params["id"]!, about);
      },
    }),
  );
}

function found(view: SimulationView | null): SimulationView {
  if (view) return view;
  throw new HttpError(404, "simulation_not_found", "there is no such simulation");
}
