/** What this process knows of each type: its contract, and its handler if it runs here. */
import { attemptsOr } from "../core/backoff.ts";
import { checkTarget, defineJob, type JobContract } from "../core/contract.ts";
import { InvalidOptionError, TypeTakenError } from "../core/errors.ts";
import type { Intent, RunningJob } from "./run/running-job.ts";

/** What a handler may return: a result, or what `job.snooze()` and `job.cancel()` give. */
export type Returns<Result> = Promise<Result | Intent> | Result | Intent;

export type Handler<Payload = unknown, Result = unknown> = (
  job: RunningJob<Payload, Result>,
) => Returns<Result>;

export interface Definition {
  readonly contract: JobContract;
  readonly handler: Handler | null;
  /** Of Holdfast itself: no worker of a user takes its queue unless told to. */
  readonly isOwn?: boolean;
}

export class Registry {
  readonly #definitions = new Map<string, Definition>();
  readonly #places = new Map<string, readonly string[]>();
  readonly #maxAttempts: number;

  /** `maxAttempts`: of types that name none. */
  constructor(maxAttempts: number) {
    this.#maxAttempts = maxAttempts;
  }

  /** How many attempts a new job of this contract gets. */
  attemptsOf(contract: JobContract | null | undefined): number {
    return contract ? attemptsOr(contract.retry, this.#maxAttempts) : this.#maxAttempts;
  }

  /** The same contract may be added again; another one of the same type may not. */
  addContract(contract: JobContract): void {
    const known = this.#definitions.get(contract.type);
    if (known === undefined) {
      this.#definitions.set(contract.type, { contract, handler: null });
    } else if (known.contract !== contract) {
      throw new TypeTakenError(
        `type "${contract.type}" has another contract already: define each type once and share it`,
      );
    }
  }

  /** A type given by name alone gets a contract of defaults. */
  addHandler(target: JobContract | string, handler: Handler): void {
    if (typeof handler !== "function") {
      throw new InvalidOptionError(
        "hf.handle needs a function: hf.handle(contract, async (job) => { … })",
      );
    }
    const given = checkTarget("hf.handle", target);
    const contract = typeof given === "string" ? this.#contractOf(given) : given;
    this.addContract(contract);
    if (this.#definitions.get(contract.type)?.handler) {
      throw new TypeTakenError(
        `type "${contract.type}" has a handler already: one type, one handler in a process`,
      );
    }
    this.#definitions.set(contract.type, { contract, handler });
  }

  /** A type of Holdfast itself. */
  addOwn(contract: JobContract, handler: Handler): void {
    this.#definitions.set(contract.type, { contract, handler, isOwn: true });
  }

  get(type: string): Definition | undefined {
    return this.#definitions.get(type);
  }

  /** Jobs of this type wait elsewhere than their contract says: in several queues, or where no worker is to look. */
  setPlaces(type: string, queues: readonly string[]): void {
    this.#places.set(type, queues);
  }

  /** The queues of everything that users gave a handler here. */
  handledQueues(): string[] {
    const queues = new Set<string>();
    for (const { contract, handler, isOwn } of this.#definitions.values()) {
      if (!handler || isOwn) continue;
      for (const queue of this.#places.get(contract.type) ?? [contract.queue]) queues.add(queue);
    }
    return [...queues];
  }

  /** Of everything that has a handler here, or of what belongs to one queue. */
  handledTypes(queue?: string): string[] {
    return [...this.#definitions.values()].flatMap(({ contract, handler }) =>
      handler && (queue === undefined || contract.queue === queue) ? [contract.type] : [],
    );
  }

  /** Is it Holdfast's own? */
  isOwnQueue(queue: string): boolean {
    return [...this.#definitions.values()].some(
      ({ contract, isOwn }) => isOwn === true && contract.queue === queue,
    );
  }

  /** Does a contract name it? */
  hasQueue(queue: string): boolean {
    return [...this.#definitions.values()].some(({ contract }) => contract.queue === queue);
  }

  #contractOf(type: string): JobContract {
    return this.#definitions.get(type)?.contract ?? (defineJob({ type }) as JobContract);
  }
  /** In the order in which they were added. */
  all(): readonly Definition[] {
    return [...this.#definitions.values()];
  }
}
