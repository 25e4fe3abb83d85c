/** Each call that a page makes. Answers come as the types of `types.ts`; whatever else comes is an ApiError. */
import { ask, get, part, post, type Query, type Reason } from "./ask.ts";
import { imports } from "./imports.ts";
import { simulations } from "./simulations.ts";
import type * as sent from "./types.ts";

export { addressOf, pathOf, sessionOver, setBase, type Query } from "./ask.ts";

type Done = { readonly done: true };

/** By what it is about. Pages ask for nothing else. */
export const api = {
  imports,
  simulations,
  me: (signal?: AbortSignal) => get<sent.Me>("me", {}, signal),
  login: (token: string) => ask<{ role: sent.Role }>("POST", "session", { body: {}, token }),
  logout: () => ask<Done>("DELETE", "session"),
  overview: (signal?: AbortSignal) => get<sent.Overview>("overview", {}, signal),
  stats: (query: Query, signal?: AbortSignal) => get<sent.Stats>("stats", query, signal),
  types: (query: Query = {}, signal?: AbortSignal) =>
    get<sent.Page<sent.JobType>>("types", query, signal),
  doctor: (signal?: AbortSignal) => get<sent.Page<sent.Finding>>("doctor", {}, signal),
  alerts: (query: Query, signal?: AbortSignal) =>
    get<sent.Page<sent.AlertSent>>("alerts", query, signal),

  jobs: {
    list: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.JobListing>>("jobs", { payloads: false, ...query }, signal),
    get: (id: string, signal?: AbortSignal) => get<sent.Job>(`jobs/${part(id)}`, {}, signal),
    why: (id: string, signal?: AbortSignal) => get<sent.Why>(`jobs/${part(id)}/why`, {}, signal),
    enqueue: (body: unknown) =>
      post<{ readonly id: string; readonly status: string; readonly queue: string }>("jobs", body),
    retry: (id: string, body: unknown) =>
      post<{ readonly result: string }>(`jobs/${part(id)}/retry`, body),
    cancel: (id: string, body: Reason) =>
      post<{ readonly result: "cancelled" | "asked" }>(`jobs/${part(id)}/cancel`, body),
    remove: (id: string, query: Reason) =>
      ask<{ readonly result: string }>("DELETE", `jobs/${part(id)}`, { query: { ...query } }),
    reveal: (id: string, body: Reason) =>
      post<Pick<sent.Job, "payload" | "result" | "checkpoint">>(`jobs/${part(id)}/reveal`, body),
  },

  queues: {
    list: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.QueueCounts>>("queues", query, signal),
    get: (queue: string, signal?: AbortSignal) =>
      get<sent.QueueDetails>(`queues/${part(queue)}`, {}, signal),
    lines: (queue: string, query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.Line>>(`queues/${part(queue)}/lines`, query, signal),
    pause: (target: Target, body: Reason & { readonly forMs?: number | undefined }) =>
      post<Done>(`${targetPath(target)}/pause`, body),
    resume: (target: Target) => ask<Done>("POST", `${targetPath(target)}/resume`),
    limits: (target: Target, body: unknown) =>
      ask<Done>("PATCH", `${targetPath(target)}/limits`, { body }),
    settings: (queue: string, body: unknown) =>
      ask<Done>("PATCH", `queues/${part(queue)}/settings`, { body }),
  },

  dead: {
    list: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.JobListing>>("dead-letters", query, signal),
    groups: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.FaultGroup>>("dead-letters/groups", query, signal),
    summary: (signal?: AbortSignal) => get<sent.DeadSummary>("dead-letters/summary", {}, signal),
    plan: (body: unknown) => post<sent.Plan>("dead-letters/plan", body),
    resolve: (fault: string, body: Reason) => post<Done>(`${faultPath(fault)}/resolve`, body),
    ignore: (fault: string, body: Reason & { readonly untilPerHour?: number | undefined }) =>
      post<Done>(`${faultPath(fault)}/ignore`, body),
    reopen: (fault: string, body: Reason) => post<Done>(`${faultPath(fault)}/reopen`, body),
    presets: (signal?: AbortSignal) =>
      get<sent.Page<sent.Preset>>("dead-letters/presets", {}, signal),
    savePreset: (name: string, body: unknown) =>
      ask<Done>("PUT", `dead-letters/presets/${part(name)}`, { body }),
    removePreset: (name: string) => ask<Done>("DELETE", `dead-letters/presets/${part(name)}`),
  },

  operations: {
    list: (signal?: AbortSignal) => get<sent.Page<sent.Operation>>("operations", {}, signal),
    get: (id: string, signal?: AbortSignal) =>
      get<sent.Operation>(`operations/${part(id)}`, {}, signal),
    plan: (body: unknown) => post<sent.Planned>("operations", body),
    start: (id: string, body: unknown) =>
      post<sent.Operation>(`operations/${part(id)}/start`, body),
    tell: (id: string, verb: "pause" | "resume" | "abort") =>
      ask<sent.Operation>("POST", `operations/${part(id)}/${verb}`),
    erase: (body: { readonly group: string; readonly reason: string }) =>
      post<sent.Operation>("erase", body),
  },

  schedules: {
    list: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.Schedule>>("schedules", query, signal),
    get: (name: string, signal?: AbortSignal) =>
      get<sent.Schedule>(`schedules/${part(name)}`, {}, signal),
    runs: (name: string, query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.Run>>(`schedules/${part(name)}/runs`, query, signal),
    preview: (body: unknown) =>
      post<{ readonly next: readonly string[] }>("schedules/preview", body),
    set: (name: string, body: unknown) => ask<Done>("PUT", `schedules/${part(name)}`, { body }),
    remove: (name: string, query: Reason) =>
      ask<Done>("DELETE", `schedules/${part(name)}`, { query: { ...query } }),
    run: (name: string, body: Reason) =>
      post<{ readonly id: string }>(`schedules/${part(name)}/run`, body),
    tell: (name: string, verb: "pause" | "resume", body: Reason) =>
      post<Done>(`schedules/${part(name)}/${verb}`, body),
  },

  gates: {
    list: (signal?: AbortSignal) => get<sent.Page<sent.Gate>>("gates", {}, signal),
    set: (name: string, body: unknown) => ask<Done>("PUT", `gates/${part(name)}`, { body }),
    remove: (name: string) => ask<Done>("DELETE", `gates/${part(name)}`),
    force: (name: string, body: Reason & { readonly state: "open" | "closed" | "auto" }) =>
      post<Done>(`gates/${part(name)}/force`, body),
  },

  workers: {
    list: (signal?: AbortSignal) => get<sent.Page<sent.Worker>>("workers", {}, signal),
    tell: (id: string, verb: "quiet" | "resume", body: Reason) =>
      post<Done>(`workers/${part(id)}/${verb}`, body),
  },

  locks: {
    list: (query: Query, signal?: AbortSignal) => get<sent.Page<sent.Lock>>("locks", query, signal),
    release: (id: string, query: Reason) =>
      ask<Done>("DELETE", `locks/${part(id)}`, { query: { ...query } }),
  },

  ledger: {
    failures: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.Failure>>("failures", query, signal),
    prune: () => ask<{ readonly pruned: number }>("POST", "failures/prune"),
    audit: (query: Query, signal?: AbortSignal) =>
      get<sent.Page<sent.AuditEntry>>("audit", query, signal),
  },

  tokens: {
    list: (signal?: AbortSignal) => get<sent.Page<sent.Token>>("tokens", {}, signal),
    create: (body: unknown) =>
      post<{ readonly token: sent.Token; readonly secret: string }>("tokens", body),
    remove: (id: string) => ask<Done>("DELETE", `tokens/${part(id)}`),
  },
};

/** A queue, or one group of it. */
export interface Target {
  readonly queue: string;
  readonly group?: string | undefined;
}

function targetPath({ queue, group }: Target): string {
  return group === undefined
    ? `queues/${part(queue)}`
    : `queues/${part(queue)}/groups/${part(group)}`;
}

function faultPath(fault: string): string {
  return `dead-letters/groups/${part(fault)}`;
}
