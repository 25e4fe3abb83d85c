/** An attempt as extensions and middleware see it: nothing of it can be changed from there. */
import type { JobContract } from "../../core/contract.ts";
import type { AttemptView } from "../extension.ts";
import type { Attempt } from "./attempt.ts";

/** Made only where an extension wants it: its words are looked up when they are read. */
export class ViewedAttempt implements AttemptView {
  readonly contract: JobContract | null;
  readonly #attempt: Attempt;
  #payload: unknown;

  constructor(attempt: Attempt, contract: JobContract | null) {
    this.#attempt = attempt;
    this.contract = contract;
  }

  get id(): string {
    return this.#attempt.job.id;
  }
  get type(): string {
    return this.#attempt.job.type;
  }
  get queue(): string {
    return this.#attempt.job.queue;
  }
  get group(): string | null {
    return this.#attempt.job.group || null;
  }
  get payload(): unknown {
    return this.#payload;
  }
  get payloadText(): string {
    return this.#attempt.job.payload;
  }
  get priority(): number {
    return this.#attempt.job.priority;
  }
  get attempt(): number {
    return this.#attempt.job.attempt;
  }
  get maxAttempts(): number {
    return this.#attempt.job.maxAttempts;
  }
  get crashes(): number {
    return this.#attempt.job.crashes;
  }
  get fence(): number {
    return this.#attempt.job.fence;
  }
  get worker(): string {
    return this.#attempt.worker;
  }
  get tags(): readonly string[] {
    return this.#attempt.job.tags;
  }
  get trace(): string | null {
    return this.#attempt.job.trace;
  }
  get createdAt(): Date {
    return new Date(this.#attempt.job.createdAt);
  }
  get runAt(): Date {
    return new Date(this.#attempt.job.runAt);
  }
  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  /** What its handler gets, once it is known. */
  takePayload(payload: unknown): void {
    this.#payload = payload;
  }
}
