/** Dead jobs of a simulation: system 3's `simulation-dlq`, without a queue of its own. */
import type { JobListing, Plan } from "holdfast";
import { SimulationStateError } from "./errors.ts";
import { primaryQueue, tags } from "./names.ts";
import { checkOneOf, checkOptions, checkWhole } from "./option-checks.ts";
import { countersOf, sumUp } from "./report.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Workshop } from "./workshop.ts";

export interface DeadView {
  readonly total: number;
  readonly byCategory: Readonly<Record<string, number>>;
  readonly byQueue: Readonly<Record<string, number>>;
  readonly samples: readonly JobListing[];
  /** Dead jobs of records, and how many the counters have. */
  readonly records: { readonly jobs: number; readonly counted: number };
  readonly reconciled: boolean;
  /** There are more than were counted. */
  readonly isCut: boolean;
}

export interface ReplayOptions {
  readonly strategy?: "oldest" | "newest" | "random" | undefined;
  readonly limit?: number | undefined;
  /** Fair share: no category takes more. */
  readonly perCategory?: number | undefined;
  readonly category?: JobListing["error"] extends { category: infer C } | null ? C : string;
  /** The attempts of a new job, instead of one. */
  readonly useFullRetry?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export interface Replay {
  /** Null: it was a dry run, or there was nothing to do. */
  readonly operation: string | null;
  readonly count: number;
  readonly byCategory: Readonly<Record<string, number>>;
  readonly sample: readonly JobListing[];
}

const MOST_COUNTED = 10_000;
const SAMPLES = 20;
const STRATEGIES = ["oldest", "newest", "random"] as const;

export async function deadLettersOf(workshop: Workshop, sim: SimulationRecord): Promise<DeadView> {
  const { hf } = workshop;
  const [byCategory, byQueue]: Record<string, number>[] = [{}, {}] as const;
  const samples: JobListing[] = [];
  let total = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof hf.deadLetters.list>> = await hf.deadLetters.list({
      ...{ tag: tags.simulation(sim.id), limit: 200, cursor },
    });
    for (const job of page.jobs) {
      total += 1;
      const category = job.error?.category ?? "unknown";
      byCategory![category] = (byCategory![category] ?? 0) + 1;
      byQueue![job.queue] = (byQueue![job.queue] ?? 0) + 1;
      if (samples.length < SAMPLES) samples.push(job);
    }
    cursor = page.nextCursor;
  } while (cursor !== null && total < MOST_COUNTED);
  const counted = countersOf(await sumUp(workshop, sim))["records_failed"]!;
  const jobs = byQueue![primaryQueue(sim.shard)] ?? 0;
  return {
    ...{ total, byCategory: byCategory!, byQueue: byQueue!, samples },
    ...{ records: { jobs, counted }, reconciled: jobs === counted, isCut: cursor !== null },
  };
}

/** Only dead ones: those that wait or run have their attempts still. */
export async function replayDead(
  { hf, logger }: Workshop,
  sim: SimulationRecord,
  options: ReplayOptions,
): Promise<Replay> {
  checkOptions("pacing.replay", options, [
    ...["strategy", "limit", "perCategory", "category", "useFullRetry", "dryRun", "by", "reason"],
  ]);
  const { strategy = "oldest", limit = 500, perCategory, category, by, reason } = options;
  checkOneOf("strategy", strategy, STRATEGIES);
  checkWhole("limit", limit, 1, 10_000);
  if (sim.status === "aborted") {
    throw new SimulationStateError(
      `simulation "${sim.id}" is aborted, and so are its jobs: nothing of it is run again`,
    );
  }
  const plan: Plan = await hf.deadLetters.plan({
    ...{ tag: tags.simulation(sim.id), strategy, limit },
    ...(perCategory !== undefined && { perCategory }),
    ...(category !== undefined && { category: category as never }),
  });
  const { count, byCategory, sample } = plan;
  if (options.dryRun === true || count === 0) return { operation: null, count, byCategory, sample };
  const operation = await plan.start({
    attempts: options.useFullRetry === true ? "full" : 1,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  });
  logger.info("dlq replay started", {
    ...{ simulation: sim.id, operation: operation.id, count, strategy, by: by ?? null },
  });
  return { operation: operation.id, count, byCategory, sample };
}
