/**
 * Which job is meant by one of the few names. An insert of jobs that are said to be new gives their names to
 * others: from then on everybody means those.
 */
import type { DrawnSettlement, DrawnTarget, Operation } from "./operation.ts";
import { jobId } from "./small-world.ts";

export class Names {
  /** How many new jobs were called so. */
  readonly #given = new Map<string, number>();

  /**
   * Of operations that happen at once. Whoever inserts a job that need not be new means the one of
   * before: while a new one is being inserted nobody else may insert it.
   */
  resolve(operations: readonly Operation[]): Operation[] {
    const before = new Map(this.#given);
    const earlier = (name: string): string => jobId(name, before.get(name) ?? 0);
    return operations.map((operation) => this.#resolveOne(operation, earlier));
  }

  #resolveOne(operation: Operation, earlier: (name: string) => string): Operation {
    switch (operation.verb) {
      case "insert": {
        const name = operation.areNew ? (id: string) => this.#another(id) : earlier;
        return { ...operation, jobs: renamed(operation.jobs, name) };
      }
      case "adopt":
        return { ...operation, jobs: renamed(operation.jobs, earlier) };
      case "settle":
        return { ...operation, settlements: spawning(operation.settlements, earlier) };
      case "within": {
        const settlements = spawning(operation.settlements, earlier);
        const name = operation.areNew ? (id: string) => this.#another(id) : earlier;
        return { ...operation, jobs: renamed(operation.jobs, name), settlements };
      }
      case "cancel":
      case "revive":
      case "reschedule":
      case "remove":
        return { ...operation, target: this.#target(operation.target) };
      case "get":
        return { ...operation, ids: operation.ids.map((id) => this.#current(id)) };
      case "place":
        return { ...operation, id: this.#current(operation.id) };
      default:
        return operation;
    }
  }

  #target(target: DrawnTarget): DrawnTarget {
    return "ids" in target ? { ids: target.ids.map((id) => this.#current(id)) } : target;
  }

  #current(name: string): string {
    return jobId(name, this.#given.get(name) ?? 0);
  }

  #another(name: string): string {
    this.#given.set(name, (this.#given.get(name) ?? 0) + 1);
    return this.#current(name);
  }
}

function spawning(
  settlements: readonly DrawnSettlement[],
  name: (id: string) => string,
): DrawnSettlement[] {
  return settlements.map((one) => ({ ...one, spawn: one.spawn && renamed(one.spawn, name) }));
}

function renamed<Job extends { readonly id: string }>(
  jobs: readonly Job[],
  name: (id: string) => string,
): Job[] {
  return jobs.map((job) => ({ ...job, id: name(job.id) }));
}
