/** The ledger of failures, for people: one entry for each failed attempt. */
import { ERROR_CATEGORIES, type ErrorCategory, type JobStatus } from "../../core/job.ts";
import type { FailureBody, StoredEntry } from "../../core/ledger.ts";
import { COUNTED_TO } from "../../core/line.ts";
import {
  checkDate,
  checkFlag,
  checkOneOf,
  checkOptions,
  checkText,
  checkWhole,
} from "../../core/option-checks.ts";
import { fillPage, type ExtensionHost } from "../../engine/extension.ts";
import { lookAtJobs } from "../jobs/look-at-jobs.ts";

export interface FailuresQuery {
  readonly jobId?: string | undefined;
  readonly type?: string | undefined;
  readonly queue?: string | undefined;
  readonly group?: string | undefined;
  readonly company?: string | undefined;
  readonly category?: ErrorCategory | undefined;
  readonly fingerprint?: string | undefined;
  /** True: only those after which the job was dead. False: only those that were tried again. */
  readonly final?: boolean | undefined;
  /** True: only those that were set right. False: the others. */
  readonly resolved?: boolean | undefined;
  /** At or after. */
  readonly from?: Date | undefined;
  /** Before. */
  readonly to?: Date | undefined;
  /** Also looks what has become of each job: whether it can still be replayed. */
  readonly withJobs?: boolean | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export type FailuresCountQuery = Omit<FailuresQuery, "resolved" | "withJobs" | "limit" | "cursor">;

/** One failed attempt. */
export interface FailureView {
  readonly id: string;
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
  /** Null for a job without a group. */
  readonly group: string | null;
  readonly company: string | null;
  /** Secrets hidden. */
  readonly payload: unknown;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The job was dead after it. */
  readonly final: boolean;
  /** Why the job is dead; null if it was tried again. */
  readonly reason: string | null;
  readonly retryInMs: number | null;
  readonly category: ErrorCategory;
  readonly fingerprint: string | null;
  readonly message: string;
  readonly stack: string | null;
  readonly worker: string;
  readonly fence: number;
  readonly failedAt: Date;
  /** When the job was retried by a person, or the failure called resolved. */
  readonly resolvedAt: Date | null;
  readonly resolvedBy: string | null;
  /**
   * Only with `withJobs`: the status of its job now. `"gone"`: pruned, removed, or its store was flushed, so it cannot be
   * replayed. Null: the store of the jobs did not answer.
   */
  readonly job?: JobStatus | "gone" | null;
}

export interface FailuresPage {
  /** Newest first. */
  readonly failures: readonly FailureView[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export const RESOLVED = "resolved";
const WORDS = ["jobId", "type", "queue", "group", "company", "category", "fingerprint"] as const;
const FLAGS = ["final", "resolved", "withJobs"] as const;
const OTHERS = ["final", "resolved", "from", "to", "withJobs", "limit", "cursor"];

export class Failures {
  readonly #host: () => Promise<ExtensionHost>;

  readonly #openJobs: () => Promise<unknown>;

  /** `host` resolves once the ledger can be asked, `openJobs` once the store of the jobs can. */
  constructor(host: () => Promise<ExtensionHost>, openJobs: () => Promise<unknown>) {
    this.#host = host;
    this.#openJobs = openJobs;
  }

  /** Null if there is none of this id. */
  async get(id: string): Promise<FailureView | null> {
    const { ledger } = await this.#host();
    const filter = { kind: "failure", ids: [checkText("id", id)] };
    const [found] = (await ledger((book) => book.read(filter, { limit: 1 }))).entries;
    return found ? failureView(found) : null;
  }

  async list(query: FailuresQuery = {}): Promise<FailuresPage> {
    const filter = filterOf("failures.list", query, OTHERS);
    const { limit = 50, cursor = null, resolved } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    const { ledger, runtime } = await this.#host();
    const page = await fillPage({ limit, cursor, runtime }, async (part) => {
      const { entries, nextCursor } = await ledger((book) => book.read(filter, part));
      const wanted = (entry: StoredEntry) =>
        resolved === undefined || (entry.state === RESOLVED) === resolved;
      return { items: entries.filter(wanted), nextCursor };
    });
    const failures = page.items.map(failureView);
    const { nextCursor } = page;
    if (query.withJobs !== true) return { failures, nextCursor };
    const jobs = await this.#statusesOf(failures);
    return { failures: failures.map((one, at) => ({ ...one, job: jobs[at] ?? null })), nextCursor };
  }

  /** Of their jobs, in their order; null where the store of the jobs does not answer. */
  async #statusesOf(failures: readonly FailureView[]): Promise<(JobStatus | "gone" | null)[]> {
    if (failures.length === 0) return [];
    const host = await this.#host();
    try {
      await this.#openJobs();
      const refs = failures.map(({ jobId: id, queue }) => ({ id, queue }));
      return await lookAtJobs(host, refs, (job) =>
        typeof job === "object" && job !== null ? job.status : "gone",
      );
    } catch {
      return failures.map(() => null);
    }
  }

  /** How many there are, counted to 10,000: that number means "that many or more". */
  async count(query: FailuresCountQuery = {}): Promise<number> {
    const filter = filterOf("failures.count", query, ["final", "from", "to"]);
    const { ledger } = await this.#host();
    return ledger((book) => book.count(filter, COUNTED_TO));
  }

  /** Removes what is past its retention now; a chore does it every minute. Answers how many. */
  async prune(): Promise<number> {
    return (await this.#host()).trimLedger("failure");
  }
}

function filterOf(
  what: string,
  query: FailuresQuery,
  others: readonly string[],
): Record<string, unknown> & { readonly kind: "failure" } {
  checkOptions(what, query, [...WORDS, ...others]);
  const filter: Record<string, unknown> & { kind: "failure" } = { kind: "failure" };
  for (const word of WORDS) {
    const value: unknown = query[word];
    if (value === undefined) continue;
    filter[word] = checkText(word, value);
  }
  if (query.category !== undefined) checkOneOf("category", query.category, ERROR_CATEGORIES);
  for (const flag of FLAGS) if (query[flag] !== undefined) checkFlag(flag, query[flag]);
  if (query.final !== undefined) filter.isFinal = query.final;
  for (const end of ["from", "to"] as const) {
    const date: unknown = query[end];
    if (date === undefined) continue;
    filter[end] = checkDate(end, date);
  }
  return filter;
}

function failureView(entry: StoredEntry): FailureView {
  const { body: text, at, state, amendedAt, jobId, type, queue } = entry;
  const body = JSON.parse(text) as FailureBody;
  const { payload, attempt, maxAttempts, isFinal: final, reason, retryInMs } = body;
  const { category, fingerprint, message, stack, worker, fence } = body;
  return {
    ...{ id: entry.id, jobId: jobId ?? "", type: type ?? "", queue: queue ?? "" },
    ...{ group: entry.group || null, company: entry.company },
    ...{ payload, attempt, maxAttempts, final, reason, retryInMs, category, fingerprint },
    ...{ message, stack, worker, fence, failedAt: new Date(at) },
    resolvedAt: state === RESOLVED && amendedAt !== null ? new Date(amendedAt) : null,
    resolvedBy: body.resolvedBy ?? null,
  };
}
