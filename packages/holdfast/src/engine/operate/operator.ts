/**
 * What a person or a program does to jobs and lines from outside: look, cancel, retry, hold, limit.
 * What changed something is noted in the ledger, where there is one.
 */
import { MAX_ATTEMPTS } from "../../core/backoff.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { jobNotFound } from "../../core/job-not-found.ts";
import type { StoredJob } from "../../core/job.ts";
import type { AuditBody } from "../../core/ledger.ts";
import type { LimitChange } from "../../core/line.ts";
import { checkName } from "../../core/names.ts";
import { encodeStored } from "../../core/json-text.ts";
import {
  checkObject,
  checkOneOf,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
  refuseUnknown,
} from "../../core/option-checks.ts";
import type { Change, Changes, QueueCounts, Store } from "../../core/store.ts";
import { checkWhy, type WhyOptions } from "../../core/why-options.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import { checkStored, payloadHash } from "../produce/compose-job.ts";
import { currentActor } from "./acting.ts";
import { checkCursor, fillPage } from "./fill-page.ts";
import { jobsFilter, type JobsFilter } from "./jobs-filter.ts";
import { jobListing, jobView, type JobListing, type JobView } from "./job-view.ts";
import { linesView, type LinesView } from "./lines-view.ts";
import { auditEntry, type About } from "../settle/ledger-entries.ts";
import type { Registry } from "../registry.ts";
import type { Runtime } from "../runtime.ts";

export interface JobsQuery extends JobsFilter {
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly order?: "newest" | "oldest" | undefined;
  /** Payloads and results are left out (null): for long lists of large jobs. */
  readonly without?: "payloads" | undefined;
}

export interface JobsPage {
  readonly jobs: readonly JobListing[];
  /** Null on the last page. A page may be short and still have one. */
  readonly nextCursor: string | null;
}

export interface RetryOptions extends WhyOptions {
  /** How many attempts it gets. Default: what its contract gives a new job. */
  readonly attempts?: number | undefined;
  readonly delayMs?: number | undefined;
  /** Replaces the payload; clears checkpoint and steps. */
  readonly payload?: unknown;
}

export type { WhyOptions } from "../../core/why-options.ts";

/** A queue, or one group of it. */
export type LineTarget = string | { readonly queue: string; readonly group?: string | undefined };

export interface PauseOptions extends WhyOptions {
  /** Resumes by itself after this. */
  readonly forMs?: number | undefined;
}

export interface LimitOptions {
  /** Most jobs running at once, of the queue or the group. Null clears. */
  readonly maxActive?: number | null | undefined;
  readonly maxActivePerGroup?: number | null | undefined;
  readonly maxWaiting?: number | null | undefined;
  /** Jobs a group takes per turn. */
  readonly weights?: Readonly<Record<string, number | null>> | undefined;
  /** Of the group, when the target is one. */
  readonly weight?: number | null | undefined;
}

const PAUSE = "pause";
export interface OperatorOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly registry: Registry;
  readonly ledgerWriter: LedgerWriter;
  readonly maxPayloadBytes: number;
}

type Action = Pick<AuditBody, "action" | "by" | "reason"> & {
  readonly details?: AuditBody["details"];
};

export class Operator {
  readonly #store: Store;
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    this.#store = options.store;
    this.#options = options;
  }

  async job(id: string): Promise<JobView | null> {
    const [found] = await this.#store.get([{ id: checkId(id) }]);
    return typeof found === "object" && found !== null ? jobView(found) : null;
  }

  async jobs(query: JobsQuery): Promise<JobsPage> {
    const filter = jobsFilter("jobs", query, ["limit", "cursor", "order", "without"]);
    const { limit = 50, cursor = null, order = "newest", without } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    checkOneOf("order", order, ["newest", "oldest"]);
    if (without !== undefined) checkOneOf("without", without, ["payloads"]);
    const { runtime } = this.#options;
    const { items, nextCursor } = await fillPage({ limit, cursor, runtime }, async (part) => {
      const page = { ...part, order, ...(without && { without }) };
      const { jobs, nextCursor: next } = await this.#store.find(filter, page);
      return { items: jobs, nextCursor: next };
    });
    return { jobs: items.map(jobListing), nextCursor };
  }

  async counts(): Promise<Record<string, Omit<QueueCounts, "queue">>> {
    const counts = Object.create(null) as Record<string, Omit<QueueCounts, "queue">>;
    for (const { queue, ...numbers } of await this.#store.count()) counts[queue] = numbers;
    return counts;
  }

  async lines(
    queue: string,
    page: { readonly limit?: number; readonly cursor?: string | null } = {},
  ): Promise<LinesView> {
    checkOptions("lines", page, ["limit", "cursor"]);
    const limit = checkWhole("limit", page.limit ?? 50, { min: 1, max: 200 });
    checkCursor(page.cursor ?? null);
    const name = checkName("queue", queue);
    return linesView(await this.#store.lines(name, { limit, cursor: page.cursor ?? null }));
  }

  /** Queued: cancelled now. Processing: its handler is asked to stop. Finished: refused. */
  async cancel(id: string, options: WhyOptions = {}): Promise<"cancelled" | "asked" | "refused"> {
    const why = checkWhy("cancel", options);
    const about = await this.#about(checkId(id));
    const result = resultOf(await this.#store.cancel({ ids: [{ id }] }, why));
    if (result !== "refused") {
      await this.note({ action: "cancel", ...why }, { ...about, state: result });
    }
    return result === "done" ? "cancelled" : result;
  }

  /** Answers the job as it was before; null: refused. */
  async retry(id: string, options: RetryOptions = {}): Promise<StoredJob | null> {
    checkOptions("retry", options, ["attempts", "delayMs", "payload", "reason", "by"]);
    const { attempts, delayMs = 0, payload, ...why } = options;
    checkWhole("delayMs", delayMs, { min: 0, max: MAX_DURATION_MS });
    if (attempts !== undefined) checkWhole("attempts", attempts, { min: 1, max: MAX_ATTEMPTS });
    const [found] = await this.#store.get([{ id: checkId(id) }]);
    if (typeof found !== "object" || found === null) throw jobNotFound(id);
    const { registry } = this.#options;
    const revival = {
      delayMs,
      runAt: null,
      attempts: attempts ?? registry.attemptsOf(registry.get(found.type)?.contract),
      ...(payload !== undefined && { payload: await this.#newPayload(found.type, payload) }),
    };
    const { queue, type, group } = found;
    const spoken = checkWhy("retry", why);
    const result = resultOf(await this.#store.revive({ ids: [{ id, queue }] }, revival, spoken));
    if (result !== "done") return null;
    const details = { attempts: revival.attempts, delayMs, hasNewPayload: payload !== undefined };
    await this.note({ action: "retry", ...spoken, details }, { jobId: id, type, queue, group });
    return found;
  }

  async remove(id: string, options: WhyOptions = {}): Promise<"removed" | "refused"> {
    const why = checkWhy("remove", options);
    const about = await this.#about(checkId(id));
    const result = resultOf(await this.#store.remove({ ids: [{ id }] }, why));
    if (result !== "done") return "refused";
    await this.note({ action: "remove", ...why }, about);
    return "removed";
  }

  async pause(target: LineTarget, options: PauseOptions = {}): Promise<void> {
    checkOptions("pause", options, ["forMs", "reason", "by"]);
    const { forMs, ...why } = options;
    if (forMs !== undefined) checkWhole("forMs", forMs, { min: 1, max: MAX_DURATION_MS });
    const { reason, by } = checkWhy("pause", why);
    const hold = { forMs: forMs ?? null, reason: reason ?? "paused", by };
    const line = lineOf("pause", target);
    await this.#store.hold([{ ...line, owner: PAUSE, hold }]);
    await this.note({ action: "pause", by, reason, details: { forMs: hold.forMs } }, line);
  }

  async resume(target: LineTarget): Promise<void> {
    const line = lineOf("resume", target);
    await this.#store.hold([{ ...line, owner: PAUSE, hold: null }]);
    await this.note({ action: "resume", by: null, reason: null }, line);
  }

  async limit(target: LineTarget, options: LimitOptions): Promise<void> {
    checkObject("limit", options);
    const line = lineOf("limit", target);
    const { weights, ...own } = options;
    const isQueue = line.group === null;
    refuseUnknown(
      isQueue ? "limit of a queue" : "limit of a group",
      options,
      isQueue
        ? ["maxActive", "maxActivePerGroup", "maxWaiting", "weights"]
        : ["maxActive", "weight"],
    );
    for (const [name, value] of Object.entries(own)) checkBound(name, value);
    const changes: LimitChange[] = [{ ...line, ...own } as LimitChange];
    if (weights !== undefined) checkObject("limit({ weights })", weights);
    for (const [group, weight] of Object.entries(weights ?? {})) {
      checkBound("weight", weight);
      changes.push({ queue: line.queue, group: checkName("group", group), weight });
    }
    await this.#store.limit(changes);
    await this.note({ action: "limit", by: null, reason: null, details: { ...options } }, line);
  }

  /** What an entry says of the job; without a ledger the job is not looked up. */
  async #about(id: string): Promise<Omit<About, "at">> {
    if (this.#options.ledgerWriter.home === "nowhere") return { jobId: id };
    const [found] = await this.#store.get([{ id }]);
    if (typeof found !== "object" || found === null) return { jobId: id };
    return { jobId: id, type: found.type, queue: found.queue, group: found.group };
  }

  /** Writes an audit entry, where there is a ledger. */
  async note(
    action: Action,
    { id, ...about }: Omit<About, "at"> & { readonly id?: string },
  ): Promise<void> {
    const { ledgerWriter, runtime } = this.#options;
    if (ledgerWriter.home === "nowhere") return;
    const actor = currentActor();
    const details = { ...action.details, ...(actor?.details && { via: actor.details }) };
    const by = actor?.by ?? action.by;
    const body: AuditBody = { ...action, worker: null, by, details };
    const entry = `audit:${id ?? runtime.id()}`;
    await ledgerWriter.note(auditEntry(entry, body, { ...about, at: ledgerWriter.now() }));
  }

  /** Judged as an enqueue judges it, where the contract is known. */
  async #newPayload(type: string, payload: unknown) {
    const limits = { what: "payload", maxBytes: this.#options.maxPayloadBytes };
    const { json, stored } = encodeStored(payload, limits);
    const contract = this.#options.registry.get(type)?.contract;
    if (contract?.payload) await checkStored(contract, stored, stored === payload);
    return { json, hash: payloadHash(type, json) };
  }
}

function checkId(id: unknown): string {
  if (typeof id === "string" && id.length > 0 && id.length <= 64) return id;
  throw new InvalidOptionError("a job id is the text that a receipt has as its id");
}

function checkBound(name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  const max = name === "weight" ? 1_000 : 1_000_000_000;
  checkWhole(name, value, { min: name === "weight" ? 1 : 0, max });
}

function lineOf(what: string, target: LineTarget): { queue: string; group: string | null } {
  if (typeof target === "string") return { queue: checkName("queue", target), group: null };
  checkOptions(`the target of ${what}`, target, ["queue", "group"]);
  const { queue, group } = target;
  const isUngrouped = group === undefined || group === "";
  return {
    queue: checkName("queue", queue),
    group: isUngrouped ? (group ?? null) : checkName("group", group),
  };
}

/** Of the one job that was named. A status that does not allow it is an answer, not an error. */
function resultOf({ changes }: Changes): Exclude<Change["result"], "missing"> {
  const [change] = changes;
  if (!change || change.result === "missing") throw jobNotFound(change?.id ?? "");
  return change.result;
}
