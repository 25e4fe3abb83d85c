/**
 * What is to be cleared away after the deed is done: fresh jobs that were taken, packs that were taken
 * apart. Whoever did it can go on meanwhile; whoever counts from this process waits for it, and sees each
 * job once.
 */
export class Clearing {
  #going: Promise<unknown> = Promise.resolve();

  /** If it fails, it is found undone by somebody. */
  begin(clearing: Promise<unknown>): void {
    this.#going = Promise.allSettled([this.#going, clearing]);
  }

  async done(): Promise<void> {
    await this.#going;
  }
}
