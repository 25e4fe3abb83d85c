/** Operations, for people: plan what is to be done to many jobs, start it, watch it, stop it. */
import {
  InvalidOptionError,
  OperationNotFoundError,
  OperationStateError,
} from "../../core/errors.ts";
import { checkName } from "../../core/names.ts";
import {
  checkObject,
  checkOneOf,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
  refuseUnknown,
} from "../../core/option-checks.ts";
import { cleanText } from "../../core/text.ts";
import { checkWhy, type WhyOptions } from "../../core/why-options.ts";
import { jobsFilter, sleep, type ExtensionHost } from "../../engine/extension.ts";
import type { JobsFilter } from "../../engine/extension.ts";
import { ACTIONS, commanded, isOver, outcomesOf } from "./operation.ts";
import type { Action, OperationRecord, OperationState } from "./operation.ts";
import {
  keepIds,
  listOperations,
  readOperation,
  storePlan,
  writeOperation,
} from "./operation-records.ts";
import { patiently } from "../records/patiently.ts";
import { CHOICE, planJobs, type ChoiceOptions, type Plan } from "./plan-jobs.ts";

export type { Plan } from "./plan-jobs.ts";

const WATCH_EVERY_MS = 500;
const MOST_PER_SECOND = 100_000;
const ONLY_OF: Readonly<Partial<Record<keyof StartOptions, readonly Action[]>>> = {
  ...{ attempts: ["retry"], stopAtFailureRate: ["retry"], delayMs: ["retry", "reschedule"] },
};

export interface PlanOptions extends ChoiceOptions {
  /** To erase a tenant is `hf.erase`. */
  readonly action: Exclude<Action, "erase">;
  /** Which jobs, as `hf.jobs` filters them. One that says nothing is refused. */
  readonly filter: JobsFilter;
}

export interface StartOptions {
  /** At most so many jobs a second, over the whole fleet. Default: as fast as it goes. */
  readonly perSecond?: number | undefined;
  /** Of a retry: how many attempts each job gets; `"full"`: as many as its contract gives. Default 1. */
  readonly attempts?: number | "full" | undefined;
  /** Of a reschedule and a retry: due so long after its step. Default 0. */
  readonly delayMs?: number | undefined;
  /** Of a retry: stops by itself once more than this share of the known outcomes are failures. */
  readonly stopAtFailureRate?: number | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export interface OperationView {
  readonly id: string;
  readonly action: Action;
  readonly state: OperationState;
  readonly filter: Readonly<Record<string, unknown>>;
  /** How many jobs it is about, how many were dealt with, and what came of that. */
  readonly of: number;
  readonly done: number;
  /** In a state that does not allow it any more. */
  readonly refused: number;
  /** Gone before it came to them. */
  readonly missing: number;
  /** Of retried jobs, as far as it is known. */
  readonly succeeded: number;
  readonly failedAgain: number;
  /** Of an erasure: what went besides the jobs. */
  readonly erased?: { readonly entries: number; readonly locks: number };
  readonly perSecond: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly plannedAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

export interface Operation extends OperationView {
  pause(): Promise<void>;
  resume(): Promise<void>;
  abort(): Promise<void>;
  /** What it has come to, again and again until it is over. */
  watch(): AsyncGenerator<OperationView>;
}

export class Operations {
  readonly #host: () => Promise<ExtensionHost>;

  constructor(host: () => Promise<ExtensionHost>) {
    this.#host = host;
  }

  /** Finds the jobs and freezes their ids. Nothing is done to them. */
  async plan(options: PlanOptions): Promise<Plan> {
    checkObject("operations.plan", options);
    refuseUnknown("operations.plan", options, ["action", "filter", ...CHOICE]);
    const { action, filter: query, ...choice } = options;
    checkOneOf("action", action, ACTIONS);
    const filter = jobsFilter("filter", query, []);
    if (Object.keys(filter).length === 0) {
      throw new InvalidOptionError('an operation needs a filter: for example { queue: "mail" }');
    }
    const start = this.start.bind(this);
    return planJobs({ host: this.#host, start }, { action, filter, isMeant: () => true }, choice);
  }

  /** Started at once: there is no plan to look at. */
  async erase(target: { readonly group: string }, options: WhyOptions = {}): Promise<Operation> {
    checkOptions("erase", target, ["group"]);
    const group = checkName("group", target.group);
    const why = checkWhy("erase", options);
    const host = await this.#host();
    const now = await host.jobs.now();
    const counts = { jobs: 0, entries: 0, locks: 0 };
    const erase = { phase: "jobs", cursor: null, isLeft: false, againAt: null, ...counts } as const;
    const operation: OperationRecord = {
      ...{ id: host.runtime.id(), action: "erase", filter: { group }, state: "running" },
      ...{ count: 0, chunks: 0, byCategory: {}, how: {}, perSecond: null, ...why, erase },
      ...{ stopAtFailureRate: null, plannedAt: now, startedAt: now, endedAt: null },
      ...{ resumedAt: now, ranMs: 0, next: 0, done: 0, refused: 0, missing: 0, outcomes: [] },
      ...{ carrier: null, step: null },
    };
    await storePlan(host.records, operation, []);
    await audit(host, operation, "start operation");
    await host.workers.announceChange();
    return this.#operation(operation);
  }

  /** Newest first. */
  async list(): Promise<readonly OperationView[]> {
    const { records } = await this.#host();
    const all = (await listOperations(records)).map(({ operation }) => viewOf(operation));
    return all.sort((a, b) => b.plannedAt.getTime() - a.plannedAt.getTime());
  }

  async get(id: string): Promise<Operation> {
    const { records } = await this.#host();
    const found = typeof id === "string" ? await readOperation(records, id) : null;
    if (found === null) throw notFound(id);
    return this.#operation(found.operation);
  }

  /** Starts what was planned, by another process too. */
  start(id: string, options?: StartOptions): Promise<Operation> {
    return this.#start(id, options);
  }

  async #start(id: string, options: StartOptions = {}): Promise<Operation> {
    const checked = checkStart(options);
    const host = await this.#host();
    if (typeof id !== "string") throw notFound(id);
    for (;;) {
      const found = await readOperation(host.records, id);
      if (found === null) throw notFound(id);
      const { operation, version } = found;
      if (operation.state !== "planned") throw notNow(operation, "started");
      refuseForeign(operation.action, options);
      const now = await host.jobs.now();
      const isEmpty = operation.count === 0;
      const started: OperationRecord = {
        ...{ ...operation, ...checked, startedAt: now, resumedAt: now },
        ...(isEmpty ? { state: "finished", endedAt: now } : { state: "running" }),
      };
      await keepIds(host.records, operation);
      if ((await this.#write(host, started, version)) === null) continue;
      await audit(host, started, "start operation");
      await patiently(host, () => host.workers.announceChange());
      return this.#operation(started);
    }
  }

  #operation(operation: OperationRecord): Operation {
    const { id } = operation;
    return {
      ...viewOf(operation),
      pause: () => this.#command(id, "pause"),
      resume: () => this.#command(id, "resume"),
      abort: () => this.#command(id, "abort"),
      watch: () => this.#watch(id),
    };
  }

  async #command(id: string, command: "pause" | "resume" | "abort"): Promise<void> {
    const host = await this.#host();
    for (;;) {
      const found = await readOperation(host.records, id);
      if (found === null) throw notFound(id);
      const { operation, version } = found;
      const next = commanded(operation, command, await host.jobs.now());
      if (next === null) throw notNow(operation, `${command}${command.endsWith("e") ? "d" : "ed"}`);
      if ((await this.#write(host, next, version)) === null) continue;
      await audit(host, next, `${command} operation`);
      return patiently(host, () => host.workers.announceChange());
    }
  }

  /** A lost reply would leave its caller with an operation that has changed, and that refuses to be changed so again. */
  #write(host: ExtensionHost, operation: OperationRecord, version: number) {
    return patiently(host, () => writeOperation(host.records, operation, version));
  }

  async *#watch(id: string): AsyncGenerator<OperationView> {
    const { records, runtime } = await this.#host();
    for (let last = ""; ;) {
      const found = await readOperation(records, id);
      if (found === null) throw notFound(id);
      const view = viewOf(found.operation);
      const words = JSON.stringify(view);
      if (words !== last) yield view;
      last = words;
      if (isOver(found.operation)) return;
      await sleep(runtime, WATCH_EVERY_MS);
    }
  }
}

/** What would have no effect on this action: nobody should believe that it has. */
function refuseForeign(action: Action, options: StartOptions): void {
  for (const [name, actions] of Object.entries(ONLY_OF)) {
    if (options[name as keyof StartOptions] === undefined || actions.includes(action)) continue;
    throw new InvalidOptionError(
      `${name} is for a ${actions.join(" or a ")}: this operation is a ${action}`,
    );
  }
}

function checkStart(
  options: StartOptions,
): Pick<OperationRecord, "how" | "perSecond" | "stopAtFailureRate" | "by" | "reason"> {
  checkObject("start", options);
  refuseUnknown("start", options, [
    ...["perSecond", "attempts", "delayMs", "stopAtFailureRate", "by", "reason"],
  ]);
  const { perSecond, attempts, delayMs, stopAtFailureRate, by, reason } = options;
  if (perSecond !== undefined) {
    checkWhole("perSecond", perSecond, { min: 1, max: MOST_PER_SECOND });
  }
  if (attempts !== undefined && attempts !== "full") {
    checkWhole("attempts", attempts, { min: 1, max: 1_000 });
  }
  if (delayMs !== undefined) checkWhole("delayMs", delayMs, { min: 0, max: MAX_DURATION_MS });
  const isShare = typeof stopAtFailureRate === "number" && stopAtFailureRate > 0;
  if (stopAtFailureRate !== undefined && !(isShare && stopAtFailureRate <= 1)) {
    throw new InvalidOptionError("stopAtFailureRate is a share: above 0, at most 1");
  }
  return {
    how: { ...(attempts !== undefined && { attempts }), ...(delayMs !== undefined && { delayMs }) },
    perSecond: perSecond ?? null,
    stopAtFailureRate: stopAtFailureRate ?? null,
    by: by === undefined ? null : cleanText(by, 100),
    reason: reason === undefined ? null : cleanText(reason, 500),
  };
}

async function audit(
  host: ExtensionHost,
  operation: OperationRecord,
  action: string,
): Promise<void> {
  const { id, action: what, filter, count, by, reason } = operation;
  await host.audit({ action, by, reason, details: { operation: id, what, filter, count } }, {});
}

function viewOf(operation: OperationRecord): OperationView {
  const { id, action, state, filter, count, done, refused, missing } = operation;
  const { perSecond, by, reason, plannedAt, startedAt, endedAt, erase } = operation;
  return {
    ...{ id, action, state, filter: { ...filter }, of: count, done, refused, missing },
    ...{ ...outcomesOf(operation), perSecond, by, reason, plannedAt: new Date(plannedAt) },
    ...(erase && { erased: { entries: erase.entries, locks: erase.locks } }),
    startedAt: startedAt === null ? null : new Date(startedAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  };
}

function notFound(id: unknown): OperationNotFoundError {
  return new OperationNotFoundError(
    `there is no operation ${cleanText(id, 64)}: operations.list() has those that are`,
  );
}

function notNow({ id, state }: OperationRecord, done: string): OperationStateError {
  return new OperationStateError(`operation ${id} is ${state}, so it cannot be ${done}`);
}
