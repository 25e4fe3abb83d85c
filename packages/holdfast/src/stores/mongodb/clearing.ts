/**
 * What is to be cleared away after the action is done: fresh jobs that were taken, packs that were taken
 * apart. Whoever did it can go on meanwhile; whoever counts from this process waits for it, and sees each
 * job once. Whoever looks for the next jobs waits for what is being cleared in the same lines.
 */
export class Clearing {
  readonly #going = new Set<Going>();

  /** If it fails, it is found undone by somebody. */
  begin(clearing: Promise<unknown>, range = EVERYWHERE): void {
    const end = (): void => void this.#going.delete(going);
    const going: Going = { range, done: clearing.then(end, end) };
    this.#going.add(going);
  }

  async done(range = EVERYWHERE): Promise<void> {
    const near = [...this.#going].filter((going) => doMeet(going.range, range));
    await Promise.all(near.map((going) => going.done));
  }
}

interface Going {
  readonly range: GroupRange;
  readonly done: Promise<void>;
}

/** Lines by their groups: those behind `after`, and no further than `until`. */
export interface GroupRange {
  readonly after: string | null;
  readonly until: string | null;
}

export const EVERYWHERE: GroupRange = { after: null, until: null };

function doMeet(a: GroupRange, b: GroupRange): boolean {
  return !isBefore(a, b) && !isBefore(b, a);
}

function isBefore({ until }: GroupRange, { after }: GroupRange): boolean {
  return until !== null && after !== null && until <= after;
}
