/** A set that forgets the oldest: what an invariant needs to know of is never long ago. */
const MOST_REMEMBERED = 3_000;

export class Recent<Item> {
  readonly #items = new Set<Item>();

  add(item: Item): void {
    this.#items.delete(item);
    this.#items.add(item);
    if (this.#items.size > MOST_REMEMBERED) this.#items.delete(this.#items.values().next().value!);
  }

  has(item: Item): boolean {
    return this.#items.has(item);
  }
}
