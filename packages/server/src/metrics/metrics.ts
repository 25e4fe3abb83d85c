/**
 * What `/metrics` tells: the state of the store, the same whichever server is asked; and what this process itself
 * has seen since it started. No label has more values than can be listed: queues and types beyond the largest are
 * `other`, and no job, group or message is ever one.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { EventName, Holdfast, JobEvents } from "holdfast";
import { sees, type Caller } from "../auth/caller.ts";
import type { Snapshot } from "../overview.ts";
import type { Route } from "../routes/route.ts";
import { exposition, type Family, type Sample } from "./exposition.ts";
import { Counter, Histogram } from "./series.ts";

const MOST_QUEUES = 100;
const STATES = ["ready", "delayed", "processing", "succeeded", "dead", "cancelled"] as const;
const NS = 1e9;

export class Metrics {
  readonly #hf: Holdfast;
  readonly #undo: readonly (() => void)[];
  readonly #loop = monitorEventLoopDelay({ resolution: 20 });
  readonly #clients: () => number;
  readonly #http = new Counter(
    "holdfast_http_requests_total",
    "Requests that this server answered.",
  );
  readonly #httpTime = new Histogram("holdfast_http_request_seconds", "How long answers took.");
  readonly #enqueued = new Counter("holdfast_jobs_enqueued_total", "Jobs this process enqueued.");
  readonly #started = new Counter("holdfast_jobs_started_total", "Attempts this process started.");
  readonly #finished = new Counter(
    "holdfast_jobs_finished_total",
    "Attempts that ended here, by outcome.",
  );
  readonly #retries = new Counter(
    "holdfast_job_retries_total",
    "Failed attempts here that are tried again.",
  );
  readonly #deadLettered = new Counter("holdfast_jobs_dead_lettered_total", "Jobs that died here.");
  readonly #rescued = new Counter(
    "holdfast_jobs_rescued_total",
    "Expired leases this process put back.",
  );
  readonly #lost = new Counter("holdfast_lease_lost_total", "Attempts here whose lease was lost.");
  readonly #wait = new Histogram(
    "holdfast_job_wait_seconds",
    "From due to started, in this process.",
  );
  readonly #run = new Histogram(
    "holdfast_job_run_seconds",
    "How long handlers of this process ran.",
  );

  constructor(hf: Holdfast, clients: () => number) {
    this.#hf = hf;
    this.#clients = clients;
    this.#loop.enable();
    const on = <Name extends EventName>(name: Name, listener: (event: JobEvents[Name]) => void) =>
      hf.on(name, listener);
    this.#undo = [
      on("enqueued", ({ queue, type }) => this.#enqueued.add({ queue, type })),
      on("started", ({ queue, type, waitedMs }) => {
        this.#started.add({ queue, type });
        this.#wait.observe({ queue }, waitedMs / 1000);
      }),
      on("succeeded", ({ queue, type, ranMs }) => {
        this.#finished.add({ queue, type, outcome: "succeeded" });
        this.#run.observe({ queue }, ranMs / 1000);
      }),
      on("failed", ({ queue, type, ranMs, willRetry }) => {
        this.#finished.add({ queue, type, outcome: "failed" });
        this.#run.observe({ queue }, ranMs / 1000);
        if (willRetry) this.#retries.add({ queue, type });
      }),
      on("dead", ({ queue, type, category }) => this.#deadLettered.add({ queue, type, category })),
      on("cancelled", ({ queue, type }) =>
        this.#finished.add({ queue, type, outcome: "cancelled" }),
      ),
      on("lost", ({ queue, type }) => this.#lost.add({ queue, type })),
      on("reaped", ({ count }) => this.#rescued.add({}, count)),
    ];
  }

  /** By the route's own path: what callers put into it is no label. */
  answered({ method, path }: Pick<Route, "method" | "path">, status: number, ms: number): void {
    this.#http.add({ method, route: path, status: String(status) });
    this.#httpTime.observe({ method, route: path }, ms / 1000);
  }

  /** In seconds, the 99th percentile since it was last asked for. */
  loopLag(): number {
    const lag = this.#loop.count === 0 ? 0 : this.#loop.percentile(99) / NS;
    return Number.isFinite(lag) ? lag : 0;
  }

  /** `snapshot` is null while the store is away. */
  async text(snapshot: Snapshot | null, caller: Caller, now: number): Promise<string> {
    const info = await this.#hf.info().catch(() => null);
    const families: Family[] = [
      gauge("holdfast_store_up", "Does the store answer?", [{ value: snapshot ? 1 : 0 }]),
      gauge("holdfast_info", "What runs here.", [
        {
          labels: { store: info?.name ?? "unknown", store_version: info?.version ?? "unknown" },
          value: 1,
        },
      ]),
      gauge(
        "holdfast_event_loop_lag_seconds",
        "Delay of this process's event loop, 99th percentile.",
        [{ value: this.loopLag() }],
      ),
      gauge("holdfast_event_clients", "Listeners of this server.", [{ value: this.#clients() }]),
      ...memory(info),
      ...(snapshot ? state(snapshot, caller, now) : []),
    ];
    this.#loop.reset();
    const own = [this.#http, this.#httpTime];
    // What is counted here is not by scope.
    const work = caller.queues === null ? this.#ofWork() : [];
    return exposition([...families, ...[...own, ...work].map((one) => one.family())]);
  }

  close(): void {
    for (const stop of this.#undo) stop();
    this.#loop.disable();
  }

  #ofWork(): readonly (Counter | Histogram)[] {
    return [
      ...[this.#enqueued, this.#started, this.#finished, this.#retries, this.#deadLettered],
      ...[this.#rescued, this.#lost, this.#wait, this.#run],
    ];
  }
}

function state({ counts, workers, dead }: Snapshot, caller: Caller, now: number): Family[] {
  const queues = Object.keys(counts).filter((queue) => sees(caller, queue));
  const size = (queue: string) => {
    const { ready = 0, delayed = 0, processing = 0, dead: died = 0 } = counts[queue] ?? {};
    return ready + delayed + processing + died;
  };
  const sorted = queues.sort((a, b) => size(b) - size(a));
  const named = sorted.slice(0, MOST_QUEUES);
  const rest = sorted.slice(MOST_QUEUES);
  const jobs: Sample[] = [];
  for (const one of STATES) {
    for (const queue of named) {
      jobs.push({ labels: { queue, state: one }, value: counts[queue]?.[one] ?? 0 });
    }
    const others = rest.reduce((sum, queue) => sum + (counts[queue]?.[one] ?? 0), 0);
    if (rest.length > 0) jobs.push({ labels: { queue: "other", state: one }, value: others });
  }
  const ages = named.flatMap((queue) => {
    const at = counts[queue]?.oldestReadyAt ?? null;
    return [{ labels: { queue }, value: at === null ? 0 : Math.max(0, (now - at) / 1000) }];
  });
  const seen = workers.filter((worker) => worker.queues.some((queue) => sees(caller, queue)));
  const active = seen.reduce((sum, worker) => sum + worker.active, 0);
  const slots = seen.reduce((sum, worker) => sum + worker.slots, 0);
  const byCategory = caller.queues === null ? Object.entries(dead?.byCategory ?? {}) : [];
  return [
    gauge("holdfast_jobs", "Jobs in the store.", jobs),
    gauge("holdfast_queue_oldest_age_seconds", "How long the oldest ready job has waited.", ages),
    gauge("holdfast_dlq_jobs", "Dead jobs, counted to 10,000 a queue.", [
      ...byCategory.map(([category, value]) => ({ labels: { category }, value })),
    ]),
    gauge("holdfast_workers", "Live workers of the fleet.", [{ value: seen.length }]),
    gauge("holdfast_worker_slots", "Slots of the fleet.", [
      { labels: { state: "busy" }, value: active },
      { labels: { state: "free" }, value: Math.max(0, slots - active) },
    ]),
  ];
}

function memory(info: Awaited<ReturnType<Holdfast["info"]>> | null): Family[] {
  if (info?.usedMemoryBytes == null) return [];
  const most = info.maxMemoryBytes ?? 0;
  return [
    gauge("holdfast_store_memory_bytes", "What the store's server uses.", [
      { value: info.usedMemoryBytes },
    ]),
    gauge("holdfast_store_memory_max_bytes", "What it may use; 0: no bound.", [{ value: most }]),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: "gauge", samples };
}
