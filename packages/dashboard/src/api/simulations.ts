/** Workloads spread over time: only where the server has them mounted, at a path of their own. */
import type { Metrics, ScenarioKnobs, ScenarioParams, SimulationView } from "@holdfast/pacing";
import { ask, get, part, post, type Query, type Reason } from "./ask.ts";
import type { Sent } from "./types.ts";

export type Simulation = Sent<SimulationView>;
export type SimulationMetrics = Sent<Metrics>;
export type Params = ScenarioParams;
export type Knobs = ScenarioKnobs;

export interface SimulationsPage {
  readonly simulations: readonly Simulation[];
  readonly nextCursor: string | null;
}

export interface Segment {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly status: "pending" | "expanding" | "expanded" | "complete";
  readonly completedAt: string | null;
  readonly counters: Readonly<Record<string, number>> | null;
}

export interface Curve {
  readonly planned: readonly number[];
  readonly actual: readonly number[];
}

export interface SimulationConfig {
  readonly overrides: Knobs;
  readonly params: Params;
}

export interface SimulationDead {
  readonly total: number;
  readonly byCategory: Readonly<Record<string, number>>;
  readonly samples: readonly {
    readonly id: string;
    readonly type: string;
    readonly category: string | null;
    readonly message: string | null;
  }[];
  readonly reconciled: boolean;
  readonly isCut: boolean;
}

export interface Replayed {
  /** Null: nothing was started. */
  readonly operation: string | null;
  readonly count: number;
  readonly byCategory: Readonly<Record<string, number>>;
}

const BASE = "/api/simulations";
const one = (id: string) => `${BASE}/${part(id)}`;
/** Of one simulation, or of all. */
const config = (id: string | null) => `${id === null ? BASE : one(id)}/config`;

export const simulations = {
  list: (query: Query, signal?: AbortSignal) => get<SimulationsPage>(BASE, query, signal),
  get: (id: string, signal?: AbortSignal) => get<Simulation>(one(id), {}, signal),
  metrics: (id: string, signal?: AbortSignal) =>
    get<SimulationMetrics>(`${one(id)}/metrics`, {}, signal),
  segments: (id: string, query: Query, signal?: AbortSignal) =>
    get<{ readonly segments: readonly Segment[]; readonly next: number | null }>(
      `${one(id)}/segments`,
      query,
      signal,
    ),
  curve: (id: string, parts: number, signal?: AbortSignal) =>
    get<Curve>(`${one(id)}/curve`, { parts }, signal),
  dead: (id: string, signal?: AbortSignal) => get<SimulationDead>(`${one(id)}/dlq`, {}, signal),
  replay: (id: string, body: Reason & { readonly dryRun: boolean; readonly limit?: number }) =>
    post<Replayed>(`${one(id)}/dlq/replay`, body),
  tell: (id: string, verb: "start" | "pause" | "resume" | "abort", body: Reason) =>
    post<Simulation>(`${one(id)}/${verb}`, body),
  config: (id: string | null, signal?: AbortSignal) =>
    get<SimulationConfig>(config(id), {}, signal),
  setConfig: (id: string | null, knobs: Knobs) =>
    ask<SimulationConfig>("PUT", config(id), { body: knobs }),
  clearConfig: (id: string | null) => ask<SimulationConfig>("DELETE", config(id)),
};
