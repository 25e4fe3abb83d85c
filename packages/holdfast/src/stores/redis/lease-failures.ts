/**
 * What went wrong in a lease of several queues. What some of them have given is known and leased: the caller
 * gets it, and hears of the queues whose part of the reply got lost.
 */
import { StoreUnavailableError } from "../../core/errors.ts";

interface Failed {
  readonly queue: string;
  readonly error: unknown;
}

export class LeaseFailures {
  readonly #failed: Failed[] = [];
  #hasAnswer = false;

  answered(): void {
    this.#hasAnswer = true;
  }

  note(queue: string, error: unknown): void {
    this.#failed.push({ queue, error });
  }

  /**
   * The queues in doubt. Throws if there is nothing to answer: no queue has, or none has given anything and
   * none is in doubt, so that an outage is not taken for an empty queue.
   */
  unsure(jobCount: number): string[] {
    const [first] = this.#failed;
    if (first === undefined) return [];
    const lost = this.#failed.find(({ error }) => isLost(error));
    const isKnown = jobCount > 0 || (this.#hasAnswer && lost !== undefined);
    // Who hears only one error must hear that something may have happened.
    if (!isKnown) throw (lost ?? first).error as Error;
    const inDoubt = this.#failed.filter(({ error }) => isLost(error) || !isUnavailable(error));
    return [...new Set(inDoubt.map(({ queue }) => queue))];
  }
}

function isUnavailable(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError;
}

function isLost(error: unknown): boolean {
  return isUnavailable(error) && error.mayHaveHappened;
}
