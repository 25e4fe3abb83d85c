/**
 * One call of `lease`, and what has come of it so far. It is kept outside of the steps that do the work:
 * whatever becomes of a later step, jobs that an earlier one has claimed are answered.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { upTo } from "./claim.ts";
import type { Snapshot } from "./snapshot.ts";
import { leasedOf } from "./job-view.ts";
import type { JobDocument } from "./schema.ts";

export class LeaseCall {
  readonly request: LeaseRequest;
  readonly jobs: LeasedJob[] = [];
  now = 0;
  /** How many may still come from capped lines. */
  cappedLeft: number;
  /** What was seen of its only queue and is not used yet. */
  snapshot: Snapshot | null = null;
  /** By queue, if it has many lines: none was open at last (true), or some were (false). */
  readonly dry = new Map<string, boolean>();
  /** It did not get all that it wanted, but enough. */
  isContent = false;
  /** The next job would have been more than it may carry. */
  isFull = false;
  /** When the next job falls due, if it was seen that nothing else is left to take; else null. */
  onlyDueAt: number | null = null;
  #bytesLeft: number;
  #isOver = false;
  /** Where jobs are being claimed that are not among ours yet. */
  #claimsIn: string | null = null;

  constructor(request: LeaseRequest) {
    const { limit, cappedLimit = limit, maxBytes = Infinity } = request;
    this.request = request;
    this.cappedLeft = cappedLimit;
    this.#bytesLeft = maxBytes;
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Those of the next jobs that it may carry; the first of a call comes whatever its size. */
  fitting(found: readonly JobDocument[]): readonly JobDocument[] {
    if (this.#bytesLeft === Infinity) return found;
    let left = this.#bytesLeft;
    const isTooMuch = (job: JobDocument, index: number): boolean => {
      left -= bytesOf(job);
      return left < 0 && index + this.jobs.length > 0;
    };
    const end = found.findIndex(isTooMuch);
    return end === -1 ? found : upTo(end, found);
  }

  /** From here until they are taken nobody knows which of them are ours. False: nobody waits for them. */
  beginClaim(queue: string): boolean {
    if (this.#isOver) return false;
    this.#claimsIn = queue;
    return true;
  }

  take(jobs: readonly JobDocument[]): void {
    for (const job of jobs) {
      this.#bytesLeft -= bytesOf(job);
      this.jobs.push(leasedOf(job));
    }
  }

  /** Nothing is in doubt any more. */
  endClaim(): void {
    this.#claimsIn = null;
  }

  /** A step has failed, or the time is up. What is known is answered; where nothing is, it throws. */
  replyDespite(error: unknown): LeaseReply {
    this.#isOver = true;
    if (this.jobs.length === 0 || !(error instanceof StoreUnavailableError)) throw error;
    const unsure = this.#claimsIn === null ? {} : { unsure: [this.#claimsIn] };
    return { jobs: [...this.jobs], nextInMs: 0, ...unsure };
  }
}

function bytesOf({ payload, unread }: JobDocument): number {
  return unread ?? payload.length;
}
