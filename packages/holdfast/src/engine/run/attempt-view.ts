/** An attempt as extensions and middleware see it. Made only where one of them looks. */
import { givenPriority } from "../../core/aging.ts";
import type { JobContract } from "../../core/contract.ts";
import type { AttemptView } from "../extension.ts";
import type { Attempt } from "./attempt.ts";
import { AttemptFacts } from "./attempt-facts.ts";

export class ViewedAttempt extends AttemptFacts implements AttemptView {
  readonly contract: JobContract | null;
  readonly #attempt: Attempt;
  #payload: unknown;

  constructor(attempt: Attempt, contract: JobContract | null) {
    super(attempt);
    this.#attempt = attempt;
    this.contract = contract;
  }

  get payload(): unknown {
    return this.#payload;
  }
  get payloadText(): string {
    return this.#attempt.job.payload;
  }
  get priority(): number {
    return givenPriority(this.#attempt.job);
  }
  get worker(): string {
    return this.#attempt.worker;
  }
  get runAt(): Date {
    return new Date(this.#attempt.job.runAt);
  }

  /** What its handler gets, once it is known. */
  takePayload(payload: unknown): void {
    this.#payload = payload;
  }
}
