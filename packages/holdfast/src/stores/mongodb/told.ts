/** What a verb has to tell those who listen, once it is done. */
export class Told {
  /** There may be ready jobs in these. */
  readonly queues = new Set<string>();
  /** So many jobs became ready at most; 0 or NaN: any number. */
  added = 0;
  readonly finished: string[] = [];
  /** Leases of these have ended: where there are caps, somebody may wait for the room. */
  readonly roomIn = new Set<string>();
  /** Packs of which some job has a document of its own by now: they want to be taken apart. */
  readonly broken = new Set<string>();

  add({ queues, added, finished, roomIn, broken }: Told): void {
    this.added += queues.size > 0 && added === 0 ? NaN : added;
    for (const pack of broken) this.broken.add(pack);
    for (const queue of queues) this.queues.add(queue);
    for (const queue of roomIn) this.roomIn.add(queue);
    this.finished.push(...finished);
  }
}
