/**
 * What workers of one process that take the same queues find out for each other: that there was nothing, and
 * when there may be something. So of those that are idle one asks at a time, not each for itself.
 */
export interface Look {
  /** When it was asked. */
  readonly at: number;
  /** When something falls due; infinite: nothing that is known. */
  readonly nextAt: number;
}

export class IdleLooks {
  /** By the names of the queues. */
  readonly #looks = new Map<string, Look>();

  foundNothing(queues: Iterable<string>, look: Look): void {
    this.#looks.set(keyOf(queues), look);
  }

  /** One of those that take them has stopped; others look again. */
  forget(queues: Iterable<string>): void {
    this.#looks.delete(keyOf(queues));
  }

  /** The last one since then. */
  since(at: number, queues: Iterable<string>): Look | null {
    const look = this.#looks.get(keyOf(queues));
    return look !== undefined && look.at > at ? look : null;
  }
}

function keyOf(queues: Iterable<string>): string {
  return [...queues].toSorted().join("\0");
}
