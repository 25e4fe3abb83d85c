/**
 * What is to be cleared away after the action is done: fresh jobs that were taken, packs that were taken
 * apart. Whoever did it can go on meanwhile; whoever counts from this process, or looks for the next jobs,
 * waits for it, and sees each job once.
 */
export class Clearing {
  readonly #going = new Set<Promise<void>>();

  /** If it fails, it is found undone by somebody. */
  begin(clearing: Promise<unknown>): void {
    const end = (): void => void this.#going.delete(going);
    const going = clearing.then(end, end);
    this.#going.add(going);
  }

  async done(): Promise<void> {
    if (this.#going.size > 0) await Promise.all(this.#going);
  }
}
