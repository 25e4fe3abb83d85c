/**
 * Calls that read the same first documents of a line claim the same jobs, and all but one of them have read
 * for nothing. So whoever came too late leaves some documents to the others the next time: a random number,
 * of the more the more often that happens. Whoever gets what was read steps back towards the first job, and
 * whoever has met nobody for a second begins there.
 */
const WIDEST = 16;
/** Slower than the steps back: who is among others will be so for a while. */
const NARROWING = 0.25;
/** Where one has met nobody for so long one is alone. */
const OVER_AFTER_MS = 1_000;

interface Place {
  /** How many times what a call reads is left to others. */
  readonly steps: number;
  /** Up to how many steps somebody who came too late would take. */
  readonly width: number;
  readonly at: number;
}

const FIRST: Place = { steps: 0, width: 0, at: Infinity };

export class Crowd {
  /** By queue. */
  readonly #places = new Map<string, Place>();
  /** When somebody was quicker. */
  readonly #metAt = new Map<string, number>();

  /** How many documents of a line a call that reads so many leaves to others. */
  leaves(queue: string, documents: number): number {
    return this.#placeAt(queue).steps * documents;
  }

  /** Nobody was quicker for a while. */
  isAlone(queue: string): boolean {
    return (this.#metAt.get(queue) ?? -Infinity) + OVER_AFTER_MS <= performance.now();
  }

  /** Of what was claimed, so much was not somebody else's already. */
  claimed(queue: string, { tried, got }: { readonly tried: number; readonly got: number }): void {
    const { steps, width, at } = this.#placeAt(queue);
    if (got < tried) {
      const wider = Math.min(WIDEST, 2 * width + 1);
      const some = Math.floor(Math.random() * (wider + 1));
      const now = performance.now();
      this.#places.set(queue, { steps: some, width: wider, at: now });
      this.#metAt.set(queue, now);
      return;
    }
    const place = { steps: Math.max(0, steps - 1), width: Math.max(0, width - NARROWING), at };
    if (place.steps + place.width > 0) this.#places.set(queue, place);
    else this.#places.delete(queue);
  }

  /** There is nothing behind what it left. */
  isOver(queue: string): void {
    this.#places.delete(queue);
  }

  #placeAt(queue: string): Place {
    const place = this.#places.get(queue) ?? FIRST;
    if (place.at + OVER_AFTER_MS > performance.now()) return place;
    this.#places.delete(queue);
    return FIRST;
  }
}
