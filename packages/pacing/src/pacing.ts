/** Paced workloads: simulations that spread records over time. */
import type { Holdfast, WhyOptions, Worker, WorkOptions } from "holdfast";
import { Book } from "./book.ts";
import { deadLettersOf, replayDead, type DeadView, type ReplayOptions } from "./dead-letters.ts";
import { SimulationNotFoundError, SimulationTakenError } from "./errors.ts";
import { askFor, runExpansion } from "./expand-segment.ts";
import { jobsOf } from "./jobs.ts";
import {
  checkId,
  checkShards,
  CONTROL_QUEUE,
  jobKeys,
  primaryQueue,
  recordKeys,
  SECONDARY_QUEUES,
  tags,
} from "./names.ts";
import { checkOneOf, checkOptions, checkWhole, MOST } from "./option-checks.ts";
import { setGates } from "./outbound.ts";
import { checkPacingOptions, type CheckedOptions, type PacingOptions } from "./pacing-options.ts";
import { followPause, queuesOf } from "./pause-holds.ts";
import { PressureGauge } from "./pressure-gauge.ts";
import { budgetsOf, countersOf, segmentsPage, sumUp } from "./report.ts";
import { followStatus, Rows } from "./rows.ts";
import { runActivity } from "./run-activity.ts";
import { runRecord } from "./run-record.ts";
import { checkKnobs, mergeKnobs, type ScenarioKnobs } from "./scenario.ts";
import { NO_TOTALS } from "./segment-record.ts";
import {
  isSameWork,
  move,
  paramsOf,
  STATUSES,
  type Move,
  type SimulationRecord,
} from "./simulation.ts";
import { checkSimulation, type SimulationOptions } from "./simulation-options.ts";
import { simulationView, type Metrics, type SimulationView } from "./simulation-view.ts";
import { thinningEvents } from "./thinning-events.ts";
import { runWatch } from "./watch.ts";
import { readSimulation, type GeneralConfig, type Workshop } from "./workshop.ts";

export interface PacingWorkOptions extends Omit<WorkOptions, "queues" | "shards"> {
  /** Which shards this worker takes. Default all. */
  readonly shards?: "all" | number | readonly number[] | undefined;
  /** Whether it also runs activities and upkeep. Default true. */
  readonly secondary?: boolean | undefined;
}

export class Pacing {
  readonly hf: Holdfast;
  readonly #options: CheckedOptions;
  readonly #workshop: Workshop;

  constructor(hf: Holdfast, options: PacingOptions = {}) {
    this.hf = hf;
    this.#options = checkPacingOptions(options);
    const { create, act, words, thinning, watchMs } = this.#options;
    this.#workshop = {
      ...{ hf, jobs: jobsOf(words), book: new Book(hf), rows: new Rows(hf), watchMs },
      gauge: new PressureGauge(hf, thinning),
      logger: hf.tools.logger,
    };
    const { jobs } = this.#workshop;
    if (create) hf.handle(jobs.record, runRecord(this.#workshop, create));
    if (act) hf.handle(jobs.activity, runActivity(this.#workshop, act));
    hf.tools.setPlaces(jobs.record.type, this.#options.workShards.map(primaryQueue));
    hf.tools.setPlaces(jobs.activity.type, SECONDARY_QUEUES);
    hf.handle(jobs.expand, runExpansion(this.#workshop));
    hf.handle(jobs.watch, runWatch(this.#workshop));
    this.#tellFailures();
  }

  get shards(): number {
    return this.#options.shards;
  }

  /** The queues of these shards, and those of activities and upkeep. */
  queues(options: Pick<PacingWorkOptions, "shards" | "secondary"> = {}): readonly string[] {
    const shards = checkShards(options.shards, this.shards).map(primaryQueue);
    return options.secondary === false ? shards : [...shards, ...SECONDARY_QUEUES, CONTROL_QUEUE];
  }

  /** A worker for all shards, or for some. */
  work(options: PacingWorkOptions = {}): Promise<Worker> {
    const { shards, secondary, ...rest } = options;
    const queues = this.queues({ shards, secondary });
    return this.hf.work({ ...rest, queues });
  }

  /** Plans a simulation; nothing happens before `start`. The same again, with its `start`: the same simulation. */
  async create(options: SimulationOptions, why: WhyOptions = {}): Promise<SimulationView> {
    const now = (await this.hf.storeTime()).getTime();
    const made = checkSimulation(options, { now, shards: this.shards });
    const { book } = this.#workshop;
    const found = await book.desk.update<SimulationRecord, SimulationRecord>(
      recordKeys.simulation(made.id),
      (record) => [record ?? made, record ?? made],
    );
    if (found.mark !== made.mark) {
      if (options.start !== undefined && isSameWork(found, made)) return this.#view(found);
      throw new SimulationTakenError(
        `there is a simulation "${made.id}" already, with another plan or scenario: choose another id`,
      );
    }
    await followStatus(this.#workshop, made, NO_TOTALS, now);
    await this.#audit("create simulation", made.id, why);
    return this.#view(made);
  }

  /** Answers at once, however large it is: a job expands the first segment. */
  async start(id: string, why: WhyOptions = {}): Promise<SimulationView> {
    const sim = await this.#move(id, "start", why);
    await setGates(this.hf, this.#options, sim.capacity, why);
    await this.#wake(sim);
    const frontier = await this.#workshop.book.frontier(sim.id);
    if (frontier === null) await askFor(this.#workshop, sim, 0);
    return this.#view(sim);
  }

  /** What runs goes on, nothing else begins. */
  async pause(id: string, why: WhyOptions = {}): Promise<SimulationView> {
    const sim = await this.#move(id, "pause", why);
    await followPause(this.#workshop, sim, why);
    return this.#view(sim);
  }

  /** Due times stay as they were: what became due meanwhile is due now. */
  async resume(id: string, why: WhyOptions = {}): Promise<SimulationView> {
    const sim = await this.#move(id, "resume", why);
    await followPause(this.#workshop, sim, why);
    await this.#wake(sim);
    return this.#view(sim);
  }

  /** For good: what waits is cancelled, and what arrives late cancels itself. */
  async abort(id: string, why: WhyOptions = {}): Promise<SimulationView> {
    const sim = await this.#move(id, "abort", why);
    await followPause(this.#workshop, sim, why);
    for (const queue of queuesOf(sim)) {
      const filter = { queue, group: sim.id, status: "queued" } as const;
      const plan = await this.hf.operations.plan({ action: "cancel", filter });
      if (plan.count > 0)
        await plan.start({ ...why, reason: why.reason ?? "the simulation was aborted" });
    }
    return this.#view(sim);
  }

  /** Null if there is none. */
  async get(id: string): Promise<SimulationView | null> {
    const found = await readSimulation(this.#workshop, checkId(id));
    return found && this.#view(found.sim);
  }

  async list(
    query: {
      readonly status?: SimulationRecord["status"] | undefined;
      readonly limit?: number | undefined;
      readonly cursor?: string | null | undefined;
    } = {},
  ): Promise<{
    readonly simulations: readonly SimulationView[];
    readonly nextCursor: string | null;
  }> {
    checkOptions("pacing.list", query, ["status", "limit", "cursor"]);
    const { status, limit = 50, cursor = null } = query;
    if (status !== undefined) checkOneOf("status", status, STATUSES);
    checkWhole("limit", limit, 1, 200);
    const prefix = recordKeys.simulations;
    const page = await this.hf.records.list<SimulationRecord>({ prefix, limit, cursor });
    const simulations = page.records
      .map(({ value }) => value)
      .filter((sim) => status === undefined || sim.status === status);
    return {
      simulations: await Promise.all(simulations.map((sim) => this.#view(sim))),
      nextCursor: page.nextCursor,
    };
  }

  /** Segments in order, with what became of them. `next`: where the next page begins. */
  async segments(
    id: string,
    query: { readonly from?: number | undefined; readonly limit?: number | undefined } = {},
  ): ReturnType<typeof segmentsPage> {
    checkOptions("pacing.segments", query, ["from", "limit"]);
    const from = checkWhole("from", query.from ?? 0, 0, MOST);
    const limit = checkWhole("limit", query.limit ?? 100, 1, 1_000);
    return segmentsPage(this.#workshop, await this.#find(id), { from, limit });
  }

  async metrics(id: string): Promise<Metrics> {
    const sim = await this.#find(id);
    const totals = await sumUp(this.#workshop, sim);
    const { params } = (await readSimulation(this.#workshop, sim.id))!;
    const [frontier, budgets, thinning] = await Promise.all([
      this.#workshop.book.frontier(sim.id),
      budgetsOf(this.#workshop, sim.id, params.budgets, totals),
      thinningEvents(this.#workshop, sim.id),
    ]);
    const segments = this.#workshop.book.timeline(sim).segmentCount;
    const [next, open] = [frontier?.next ?? 0, frontier?.open ?? []];
    return {
      ...{ id: sim.id, status: sim.status, records_total: sim.plan.count },
      records_processed: totals.created + totals.failed,
      counters: countersOf(totals),
      segments: { total: segments, expanded: next, open, complete: next - open.length },
      ...{ budgets, thinning },
    };
  }

  /** The row in the ledger's store: what is known of it when the jobs' store is away, or has forgotten it. */
  row(id: string): ReturnType<Rows["read"]> {
    return this.#workshop.rows.read(checkId(id));
  }

  /** When records are due, delta-encoded: from `from` on, at most 10,000. */
  async instants(
    id: string,
    query: { readonly from?: number | undefined; readonly limit?: number | undefined } = {},
  ): Promise<{
    readonly from: number;
    readonly first: Date | null;
    readonly deltasMs: readonly number[];
  }> {
    checkOptions("pacing.instants", query, ["from", "limit"]);
    const from = checkWhole("from", query.from ?? 0, 0, MOST);
    const limit = checkWhole("limit", query.limit ?? 1_000, 1, 10_000);
    const { first, deltas } = this.#workshop.book
      .timeline(await this.#find(id))
      .deltas(from, limit);
    return { from, first: first === null ? null : new Date(first), deltasMs: deltas };
  }

  /** Planned against actual, in at most so many parts of whole segments. */
  async curve(
    id: string,
    parts = 60,
  ): Promise<{ readonly planned: number[]; readonly actual: number[] }> {
    checkWhole("parts", parts, 1, 1_000);
    const sim = await this.#find(id);
    const timeline = this.#workshop.book.timeline(sim);
    const size = Math.max(1, Math.ceil(timeline.segmentCount / parts));
    const [planned, actual]: [number[], number[]] = [[], []];
    for (let from = 0; from < timeline.segmentCount; from += size) {
      const { segments } = await segmentsPage(this.#workshop, sim, { from, limit: size });
      planned.push(segments.reduce((sum, { count }) => sum + count, 0));
      const done = segments.map(({ counters }) => counters?.["records_created"] ?? 0);
      actual.push(done.reduce((sum, count) => sum + count, 0));
    }
    return { planned, actual };
  }

  /** The knobs that an admin has turned: for all simulations, or for one. */
  async config(
    id?: string,
  ): Promise<{ readonly overrides: ScenarioKnobs; readonly params: object }> {
    const general = await this.#workshop.book.desk.read<GeneralConfig>(recordKeys.config);
    const none = { knobs: {}, overrides: {} };
    const sim = id === undefined ? none : await this.#find(id);
    const overrides = id === undefined ? (general?.overrides ?? {}) : sim.overrides;
    return { overrides, params: paramsOf(sim, general?.overrides ?? null) };
  }

  /** In force for every job that begins from now on, expanded or not. Audited. */
  async setConfig(knobs: ScenarioKnobs, options: WhyOptions & { readonly id?: string } = {}) {
    const { id, ...why } = options;
    const checked = checkKnobs("config", knobs);
    await this.#changeConfig(id, (before) => mergeKnobs(before, checked));
    await this.#audit("set simulation config", id, why, { knobs: checked });
    return this.config(id);
  }

  /** Back to the scenario's own. Audited. */
  async clearConfig(options: WhyOptions & { readonly id?: string } = {}) {
    const { id, ...why } = options;
    await this.#changeConfig(id, () => ({}));
    await this.#audit("clear simulation config", id, why);
    return this.config(id);
  }

  /** Dead jobs of a simulation: counts by category, samples, and whether they agree with its counters. */
  async deadLetters(id: string): Promise<DeadView> {
    return deadLettersOf(this.#workshop, await this.#find(id));
  }

  /** Runs dead jobs of a simulation again; `dryRun` says which. */
  async replay(id: string, options: ReplayOptions = {}): ReturnType<typeof replayDead> {
    return replayDead(this.#workshop, await this.#find(id), options);
  }

  async #changeConfig(id: string | undefined, change: (before: ScenarioKnobs) => ScenarioKnobs) {
    const { desk } = this.#workshop.book;
    const mark = crypto.randomUUID();
    if (id !== undefined) await this.#find(id);
    const key = id === undefined ? recordKeys.config : recordKeys.simulation(id);
    // Merging the same once more changes nothing, so a lost reply does no harm.
    await desk.update<SimulationRecord | GeneralConfig, null>(key, (record) => {
      const overrides = change(record?.overrides ?? {});
      const after = { ...record, overrides, mark };
      return [after as SimulationRecord | GeneralConfig, null];
    });
  }

  /** Its watch, once; a new one if the last has come to its end. */
  async #wake(sim: SimulationRecord): Promise<void> {
    const { jobs } = this.#workshop;
    await this.hf.enqueue(
      jobs.watch,
      { simulation: sim.id },
      {
        ...{ group: sim.id, tags: [tags.simulation(sim.id)], onConflict: "return" },
        ...{ idempotencyKey: jobKeys.watch(sim.id), idempotencyTtlMs: "until-finished" },
      },
    );
  }

  async #move(id: string, how: Move, why: WhyOptions): Promise<SimulationRecord> {
    const now = (await this.hf.storeTime()).getTime();
    const mark = crypto.randomUUID();
    const { book } = this.#workshop;
    const before = await this.#find(id);
    const sim = await book.desk.update<SimulationRecord, SimulationRecord>(
      recordKeys.simulation(before.id),
      (record) => {
        const moved = move(record ?? before, how, { now, reason: why.reason ?? null, mark });
        return [moved, moved];
      },
    );
    if (sim.mark === mark) await this.#audit(`${how} simulation`, sim.id, why);
    await followStatus(this.#workshop, sim, await sumUp(this.#workshop, sim), now);
    return sim;
  }

  async #find(id: string): Promise<SimulationRecord> {
    const found = await readSimulation(this.#workshop, checkId(id));
    if (found) return found.sim;
    throw new SimulationNotFoundError(
      `there is no simulation "${id}": pacing.create makes one, pacing.list() has those that are`,
    );
  }

  async #view(sim: SimulationRecord): Promise<SimulationView> {
    const found = await readSimulation(this.#workshop, sim.id);
    const { book } = this.#workshop;
    const params = found?.params ?? paramsOf(sim, null);
    return simulationView(sim, params, book.timeline(sim).segmentCount);
  }

  async #audit(action: string, id: string | undefined, why: WhyOptions, details: object = {}) {
    const about = id === undefined ? {} : { group: id };
    await this.hf.tools.audit({
      ...why,
      ...about,
      action,
      details: { simulation: id ?? null, ...details },
    });
  }

  /** Log lines by the names of system 3. */
  #tellFailures(): void {
    const { jobs, logger } = this.#workshop;
    const types: readonly string[] = [jobs.record.type, jobs.activity.type];
    this.hf.on("failed", ({ type, id, group, queue, attempt, failure, willRetry }) => {
      if (!types.includes(type)) return;
      const { category } = failure;
      // What the other side's client threw may hold the token of the call.
      const message = this.hf.tools.redact.text(failure.message);
      logger.warn("hubspot op failed", {
        ...{ simulation: group, type, queue, jobId: id, attempt, category, message, willRetry },
      });
    });
    this.hf.on("dead", ({ type, id, group, queue, category }) => {
      if (!types.includes(type)) return;
      logger.warn("job dead-lettered", { simulation: group, type, queue, jobId: id, category });
    });
  }
}
