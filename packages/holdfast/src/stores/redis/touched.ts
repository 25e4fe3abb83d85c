/** What a call has changed that others may wait for. */
import type { Reply } from "./client-like.ts";
import { list, number } from "./reply.ts";

export class Touched {
  /** Somebody went away hungry from these, and there may be work now. */
  readonly woken = new Set<string>();
  readonly finished: string[] = [];
  /** So many jobs became ready at most. */
  added: number | undefined;
  /** Who waits for these in this process was told when the jobs were sent. */
  expected: ReadonlySet<string> | undefined;

  wake(numbers: Reply | undefined, queues: readonly string[]): void {
    for (const queue of named(numbers, queues)) this.woken.add(queue);
  }
}

/** Scripts call queues by their number in the keys they were given. */
export function named(numbers: Reply | undefined, queues: readonly string[]): string[] {
  return list(numbers).flatMap((index) => queues[number(index) - 1] ?? []);
}
