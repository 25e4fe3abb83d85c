/** Jobs by a service, for code that was written for one: `enqueue(dto)`, `getJobById(id)`, `getJobs(…)`. */
import {
  InvalidOptionError,
  JobNotFoundError,
  type EnqueueOptions,
  type Holdfast,
  type JobStatus as StoredStatus,
  type Receipt,
} from "holdfast";
import type { IJobHandler, JobStatus } from "./job-document.ts";
import { justTaken, QueueJob, type QueueJobSource } from "./queue-job.ts";
import type { QueueWorkerService } from "./queue-worker-service.ts";
import { nearestName, refuseUnknown } from "../module/refuse-unknown.ts";

export interface EnqueueJobDto extends Omit<EnqueueOptions, "dedupe"> {
  readonly type: string;
  /** Default `{}`. */
  readonly payload?: unknown;
  /** The same payload again is refused with `DuplicateJobError`, which the filter answers with 409. Default true. */
  readonly dedupe?: boolean | undefined;
}

const DTO = [
  ...["type", "payload", "maxAttempts", "priority", "delayMs", "runAt", "expiresAt"],
  ...["expiresAfterMs", "idempotencyKey", "idempotencyTtlMs", "dedupe", "onDuplicate"],
  ...["onConflict", "group", "queue", "tags", "meta", "trace"],
];
const STATUSES: Readonly<Record<string, readonly StoredStatus[]>> = {
  ...{ queued: ["queued"], processing: ["processing"], succeeded: ["succeeded"] },
  ...{ failed: ["dead", "cancelled"], dead: ["dead"], cancelled: ["cancelled"] },
};
const MOST_LISTED = 200;

export class QueueService {
  readonly #hf: Holdfast;
  readonly #worker: QueueWorkerService;

  constructor(hf: Holdfast, worker: QueueWorkerService) {
    this.#hf = hf;
    this.#worker = worker;
  }

  /** Resolves once the job is stored and will survive. */
  async enqueue(dto: EnqueueJobDto): Promise<QueueJob> {
    refuseUnknown("enqueue", dto, DTO);
    const { type, payload = {}, dedupe = true, ...rest } = dto;
    // Two words for one thing are refused by the library, which says so.
    const options = rest as EnqueueOptions;
    if (typeof type !== "string" || type === "") {
      throw new InvalidOptionError('enqueue needs a type: { type: "send.email", payload: { … } }');
    }
    if (typeof dedupe !== "boolean") throw new InvalidOptionError("dedupe is true or false");
    const byPayload = dedupe && options.idempotencyKey === undefined;
    const receipt = await this.#hf.enqueue(type, payload, {
      ...(this.#hf.tools.type(type) === null && { queue: this.#worker.defaultQueue }),
      ...(byPayload && { dedupe: "payload" as const }),
      ...{ onDuplicate: "throw", ...options },
    });
    return new QueueJob(this.#hf, await this.#taken(receipt, payload, options));
  }

  /** It is taken by now: trouble with looking at it must not look like trouble with taking it. */
  async #taken(
    receipt: Receipt,
    payload: unknown,
    options: EnqueueOptions,
  ): Promise<QueueJobSource> {
    if (receipt.outcome && receipt.outcome.status !== "pruned") return receipt.outcome.job;
    const found = await this.#hf.job(receipt.id).catch(() => null);
    if (found !== null) return found;
    const known = this.#hf.tools.type(receipt.type);
    const { priority = known?.priority ?? 100, maxAttempts = known?.maxAttempts ?? 1 } = options;
    return justTaken(receipt, { payload, priority, maxAttempts });
  }

  /** Throws `JobNotFoundError`, which the filter answers with 404. */
  async getJobById(id: string): Promise<QueueJob> {
    const job = await this.#hf.job(id);
    if (job === null) throw new JobNotFoundError("there is no such job, or it is no longer kept");
    return new QueueJob(this.#hf, job);
  }

  /** Newest first; 100 unless told otherwise, at most 200. */
  async getJobs(
    status?: JobStatus | StoredStatus,
    type?: string,
    limit?: number | string,
  ): Promise<QueueJob[]> {
    const { jobs } = await this.#hf.jobs({
      ...(status !== undefined && { status: storedStatuses(status) }),
      ...(type !== undefined && { type }),
      limit: checkLimit(limit ?? 100),
    });
    return jobs.map((job) => new QueueJob(this.#hf, job));
  }

  registerHandler(type: string, handler: IJobHandler): void {
    this.#worker.registerHandler(type, handler);
  }
}

function storedStatuses(status: string): readonly StoredStatus[] {
  const found = Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  if (found) return found;
  const known = Object.keys(STATUSES);
  const nearest = nearestName(String(status), known);
  throw new InvalidOptionError(
    `there is no status of this name: ${nearest === null ? `take ${known.join(", ")}` : `did you mean "${nearest}"?`}`,
  );
}

/** From a query string it comes as text. */
function checkLimit(limit: number | string): number {
  const number = typeof limit === "string" && /^\d{1,4}$/.test(limit) ? Number(limit) : limit;
  if (Number.isInteger(number) && (number as number) >= 1 && (number as number) <= MOST_LISTED) {
    return number as number;
  }
  throw new InvalidOptionError(`limit is a whole number from 1 to ${MOST_LISTED}`);
}
