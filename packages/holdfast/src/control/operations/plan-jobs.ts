/** Finds the jobs of an operation and freezes their ids: for the operations of people, and for replays. */
import type { JobSummary } from "../../core/job.ts";
import { checkOneOf, checkWhole } from "../../core/option-checks.ts";
import type { JobFilter } from "../../core/store.ts";
import { jobListing, type ExtensionHost, type JobListing } from "../../engine/extension.ts";
import { chooseJobs, MOST_IDS, STRATEGIES, type Strategy } from "./choose-jobs.ts";
import { CHUNK, type Action, type OperationRecord } from "./operation.ts";
import { storePlan } from "./operation-records.ts";
import type { Operation, StartOptions } from "./operations.ts";

export const CHOICE = ["strategy", "limit", "perCategory", "seed"];

/** Which of the jobs that match. */
export interface ChoiceOptions {
  readonly strategy?: Strategy | undefined;
  /** 1 to 10,000, which is the default. */
  readonly limit?: number | undefined;
  /** A fair share: at most so many of one category of errors. */
  readonly perCategory?: number | undefined;
  /** Of the strategy `random`: the same seed draws the same jobs. */
  readonly seed?: number | undefined;
}

/** What would be done, and nothing has been yet. */
export interface Plan {
  readonly id: string;
  readonly action: Action;
  readonly count: number;
  readonly byCategory: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly sample: readonly JobListing[];
  /** More jobs match than it takes. */
  readonly isCut: boolean;
  start(options?: StartOptions): Promise<Operation>;
}

/** What is asked of a store, and of each job that it finds. */
export interface Meant {
  readonly action: Action;
  readonly filter: JobFilter & { readonly text?: string };
  readonly isMeant: (job: JobSummary) => boolean;
}

export interface PlanParts {
  /** Resolves once the store is open. */
  readonly host: () => Promise<ExtensionHost>;
  readonly start: (id: string, options?: StartOptions) => Promise<Operation>;
}

export async function planJobs(
  parts: PlanParts,
  { action, filter, isMeant }: Meant,
  options: ChoiceOptions,
): Promise<Plan> {
  const choice = { filter, isMeant, ...checkChoice(options) };
  const host = await parts.host();
  const { refs, byCategory, sample, isCut } = await chooseJobs(host, choice);
  const operation: OperationRecord = {
    ...{ id: host.runtime.id(), action, filter, state: "planned", count: refs.length },
    ...{ chunks: Math.ceil(refs.length / CHUNK), byCategory, how: {}, perSecond: null },
    ...{ stopAtFailureRate: null, by: null, reason: null, plannedAt: await host.jobs.now() },
    ...{ startedAt: null, endedAt: null, resumedAt: null, ranMs: 0, next: 0, done: 0 },
    ...{ refused: 0, missing: 0, outcomes: [], carrier: null, step: null },
  };
  await storePlan(host.records, operation, refs);
  const { id, count } = operation;
  return {
    ...{ id, action, count, byCategory, isCut, sample: sample.map(jobListing) },
    start: (startOptions) => parts.start(id, startOptions),
  };
}

export function checkChoice(options: ChoiceOptions) {
  const { strategy = "oldest", limit = MOST_IDS, perCategory = null, seed = 1 } = options;
  checkOneOf("strategy", strategy, STRATEGIES);
  checkWhole("limit", limit, { min: 1, max: MOST_IDS });
  checkWhole("seed", seed, { min: 0, max: 2 ** 32 - 1 });
  if (perCategory !== null) checkWhole("perCategory", perCategory, { min: 1, max: MOST_IDS });
  return { strategy, limit, perCategory, seed };
}
