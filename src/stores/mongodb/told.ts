/** What a verb has to tell those who listen, once it is done. */
export class Told {
  /** There may be ready jobs in these. */
  readonly queues = new Set<string>();
  readonly finished: string[] = [];
  /** Leases of these have ended: where there are caps, somebody may wait for the room. */
  readonly roomIn = new Set<string>();

  add({ queues, finished, roomIn }: Told): void {
    for (const queue of queues) this.queues.add(queue);
    for (const queue of roomIn) this.roomIn.add(queue);
    this.finished.push(...finished);
  }
}
