/** Dead jobs, for people: which faults they died of, which jobs, and what was decided about them. */
import { InvalidOptionError } from "../../core/errors.ts";
import type { ErrorCategory, JobSummary } from "../../core/job.ts";
import { checkName } from "../../core/names.ts";
import {
  checkFlag,
  checkObject,
  checkOneOf,
  checkWhole,
  refuseUnknown,
} from "../../core/option-checks.ts";
import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, QueueCounts } from "../../core/store.ts";
import { checkWhy } from "../../core/why-options.ts";
import {
  fillPage,
  jobListing,
  type ExtensionHost,
  type JobListing,
} from "../../engine/extension.ts";
import { lookAtJobs } from "../jobs/look-at-jobs.ts";
import { checkDeadFilter, type DeadFilter } from "./dead-filter.ts";
import type { Operations } from "../operations/operations.ts";
import { CHOICE, planJobs, type ChoiceOptions, type Plan } from "../operations/plan-jobs.ts";
import { Presets } from "./presets.ts";
import { markFault, readMarks, type FaultMark } from "./faults.ts";

const HOUR_MS = 3_600_000;
const MOST_GROUPS = 200;
/** Among so many faults those that are to be shown are looked for. */
const MOST_FAULTS = 10_000;

export interface FaultGroup {
  /** Null: these died without an error of their own. */
  readonly fingerprint: string | null;
  readonly type: string;
  readonly category: ErrorCategory | null;
  /** Of the example. */
  readonly message: string | null;
  /** Counted to 10,000: that number means "that many or more". */
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** A job that died of it last. */
  readonly example: string;
  /** `back`: it was resolved, and jobs died of it since. */
  readonly state: "open" | "resolved" | "ignored" | "back";
  /** Of a fault that is back: what ran when it was called resolved. */
  readonly resolvedIn: string | null;
}

export interface GroupsQuery {
  readonly queue?: string | undefined;
  /** Those that are resolved or ignored as well. Default false. */
  readonly all?: boolean | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
}

export interface DeadSummary {
  /** To 10,000 a queue. */
  readonly total: number;
  readonly byCategory: Readonly<Record<string, number>>;
  /** The largest. */
  readonly byQueue: Readonly<Record<string, number>>;
  /** The largest; jobs without a group are under `""`. */
  readonly byGroup: Readonly<Record<string, number>>;
}

export interface DeadLettersQuery extends DeadFilter {
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly order?: "newest" | "oldest" | undefined;
}

export interface DeadLettersPage {
  readonly jobs: readonly JobListing[];
  readonly nextCursor: string | null;
}

export interface DecisionOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export interface IgnoreOptions extends DecisionOptions {
  /** Shown again once so many die of it in an hour. Default: never. */
  readonly untilPerHour?: number | undefined;
}

export interface DeadPlanOptions extends DeadFilter, ChoiceOptions {}

interface DeadLettersOptions {
  readonly operations: Operations;
  readonly appVersion: string | null;
  /** Is such a failure in the ledger? */
  readonly hasFailed: (fingerprint: string) => Promise<boolean>;
}

export class DeadLetters {
  readonly #host: () => Promise<ExtensionHost>;
  readonly #operations: Operations;
  /** Plans that have a name. */
  readonly presets: Presets;
  readonly #appVersion: string | null;
  readonly #hasFailed: (fingerprint: string) => Promise<boolean>;

  constructor(host: () => Promise<ExtensionHost>, options: DeadLettersOptions) {
    const { operations, appVersion, hasFailed } = options;
    this.#host = host;
    this.#operations = operations;
    this.#hasFailed = hasFailed;
    this.presets = new Presets(host, (options) => this.plan(options));
    this.#appVersion = appVersion;
  }

  /** The faults that dead jobs died of, the commonest first. */
  async groups(query: GroupsQuery = {}): Promise<readonly FaultGroup[]> {
    checkObject("deadLetters.groups", query);
    refuseUnknown("deadLetters.groups", query, ["queue", "all", "limit"]);
    const limit = checkWhole("limit", query.limit ?? 50, { min: 1, max: MOST_GROUPS });
    const queue = query.queue === undefined ? {} : { queue: checkName("queue", query.queue) };
    if (query.all !== undefined) checkFlag("all", query.all);
    const host = await this.#host();
    const isShown = ({ state }: FaultGroup) =>
      query.all === true || state === "open" || state === "back";
    // Those that are resolved or ignored are counted, too: behind many of them are others that are to be shown.
    const shown: FaultGroup[] = [];
    let looked = 0;
    for (const most of [MOST_GROUPS, MOST_FAULTS]) {
      const counts = await host.jobs.countDead({ by: "fingerprint", ...queue, limit: most });
      for (; looked < counts.length && shown.length < limit; looked += MOST_GROUPS) {
        const some = await groupsOf(host, counts.slice(looked, looked + MOST_GROUPS));
        shown.push(...some.filter(isShown));
      }
      if (shown.length >= limit || counts.length < most) break;
    }
    return shown.slice(0, limit);
  }

  async summary(): Promise<DeadSummary> {
    const { jobs } = await this.#host();
    const by = async (word: "category" | "queue" | "group") => {
      const counts = await jobs.countDead({ by: word, limit: MOST_GROUPS });
      return Object.fromEntries(counts.map(({ key, count }) => [key ?? "", count]));
    };
    const [byCategory, byQueue, byGroup] = [
      await by("category"),
      await by("queue"),
      await by("group"),
    ];
    const shown = Object.values(byQueue);
    // More queues than are named: then all of them are asked how many they have.
    const counts = shown.length < MOST_GROUPS ? shown : (await jobs.count()).map(deadOf);
    const total = counts.reduce((sum, count) => sum + count, 0);
    return { total, byCategory, byQueue, byGroup };
  }

  async list(query: DeadLettersQuery = {}): Promise<DeadLettersPage> {
    checkObject("deadLetters.list", query);
    const { limit = 50, cursor = null, order = "newest", ...filter } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    checkOneOf("order", order, ["newest", "oldest"]);
    const { storeFilter, isMeant } = checkDeadFilter("deadLetters.list", filter);
    const { jobs, runtime } = await this.#host();
    const page = await fillPage({ limit, cursor, runtime }, async (part) => {
      const found = await jobs.find(storeFilter, { ...part, order });
      return { items: found.jobs.filter(isMeant), nextCursor: found.nextCursor };
    });
    return { jobs: page.items.map(jobListing), nextCursor: page.nextCursor };
  }

  /** Which dead jobs a replay would run again. Nothing has changed until it is started. */
  async plan(options: DeadPlanOptions = {}): Promise<Plan> {
    checkObject("deadLetters.plan", options);
    const { strategy, limit, perCategory, seed, ...filter } = options;
    const { storeFilter, isMeant } = checkDeadFilter("deadLetters.plan", filter, CHOICE);
    const text = filter.text === undefined ? {} : { text: filter.text };
    return planJobs(
      { host: this.#host, start: (id, how) => this.#operations.start(id, how) },
      { action: "retry", filter: { ...storeFilter, ...text }, isMeant },
      { strategy, limit, perCategory, seed },
    );
  }

  /**
   * Has anything been seen of this fault: a dead job, a failure in the ledger, or a decision about it? Where
   * a person gives the name, a slip would else be decided about, and never be seen.
   */
  async isKnown(fingerprint: string): Promise<boolean> {
    const { jobs, nextCursor } = await this.list({ fingerprint, limit: 1 });
    if (jobs.length > 0 || nextCursor !== null) return true;
    const [mark] = await readMarks(await this.#host(), [fingerprint]);
    return mark !== null || this.#hasFailed(fingerprint);
  }

  /** Shown again only if it comes back. */
  async resolve(fingerprint: string, options: DecisionOptions = {}): Promise<void> {
    const { by, reason } = checkWhy("deadLetters.resolve", options);
    const appVersion = this.#appVersion;
    return this.#mark(fingerprint, (at) => ({ state: "resolved", at, by, reason, appVersion }));
  }

  /** Not shown until it comes more often than that. */
  async ignore(fingerprint: string, options: IgnoreOptions = {}): Promise<void> {
    checkObject("deadLetters.ignore", options);
    const { untilPerHour, ...words } = options;
    if (untilPerHour !== undefined) {
      checkWhole("untilPerHour", untilPerHour, { min: 1, max: 10_000 });
    }
    const { by, reason } = checkWhy("deadLetters.ignore", words);
    return this.#mark(fingerprint, (at) => ({
      ...{ state: "ignored", at, by, reason },
      untilPerHour: untilPerHour ?? null,
    }));
  }

  /** As if nothing had been decided. */
  async reopen(fingerprint: string, options: DecisionOptions = {}): Promise<void> {
    checkWhy("deadLetters.reopen", options);
    return this.#mark(fingerprint, () => null, options);
  }

  async #mark(
    fingerprint: string,
    markAt: (now: number) => FaultMark | null,
    options: DecisionOptions = {},
  ): Promise<void> {
    if (typeof fingerprint !== "string" || fingerprint === "") {
      throw new InvalidOptionError("a fault is named by its fingerprint, as groups() has it");
    }
    const host = await this.#host();
    const mark = markAt(await host.jobs.now());
    await markFault(host, fingerprint, mark);
    const { by, reason } = mark ?? checkWhy("deadLetters", options);
    const action = mark === null ? "reopen fault" : `${mark.state} fault`;
    await host.audit({ action, by, reason, details: { fingerprint } }, {});
  }
}

function deadOf({ dead }: QueueCounts): number {
  return Math.min(dead, COUNTED_TO);
}

/** What a fault shows of its example. */
type Example = Pick<JobSummary, "type" | "error">;

async function groupsOf(host: ExtensionHost, counts: readonly DeadCount[]): Promise<FaultGroup[]> {
  const refs = counts.map(({ example }) => ({ id: example }));
  const [examples, marks, now] = await Promise.all([
    lookAtJobs(host, refs, (job): Example | null =>
      typeof job === "object" && job !== null ? { type: job.type, error: job.error } : null,
    ),
    readMarks(
      host,
      counts.map(({ key }) => key ?? ""),
    ),
    host.jobs.now(),
  ]);
  return Promise.all(
    counts.map((count, at) => {
      const about = { job: examples[at] ?? null, mark: marks[at] ?? null, now };
      return groupOf(host, count, about);
    }),
  );
}

async function groupOf(
  { jobs }: ExtensionHost,
  { key, count, firstAt, lastAt, example }: DeadCount,
  about: { readonly job: Example | null; readonly mark: FaultMark | null; readonly now: number },
): Promise<FaultGroup> {
  const { job, mark, now } = about;
  let state: FaultGroup["state"] = "open";
  if (mark?.state === "resolved") state = lastAt > mark.at ? "back" : "resolved";
  if (mark?.state === "ignored") {
    const most = mark.untilPerHour;
    const filter = { status: ["dead"], finishedFrom: now - HOUR_MS } as const;
    const recent =
      most === null || key === null
        ? []
        : (await jobs.find({ ...filter, fingerprint: key }, { limit: most, without: "payloads" }))
            .jobs;
    state = most !== null && recent.length >= most ? "open" : "ignored";
  }
  return {
    ...{ fingerprint: key, type: job?.type ?? "", category: job?.error?.category ?? null },
    ...{ message: job?.error?.message ?? null, count, example, state },
    firstAt: new Date(firstAt),
    lastAt: new Date(lastAt),
    resolvedIn: state === "back" && mark?.state === "resolved" ? mark.appVersion : null,
  };
}
