/**
 * A binary heap whose items know their own slot, so that any of them can leave or move, not only the
 * first. That is what lets a cancel take a job out of the middle of a line of a hundred thousand.
 *
 * An item's `slot` belongs to the one heap it is in: it must not be in two at a time.
 */
export interface HeapItem {
  slot: number;
}

export class Heap<T extends HeapItem> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** All items, in no order that means anything. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }

  /** The first item; it stays. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  remove(item: T): void {
    if (this.#items[item.slot] !== item) throw new Error("the item is not in this heap");
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    last.slot = item.slot;
    this.#items[last.slot] = last;
    this.moved(last);
  }

  /** To be called after what `isBefore` compares has changed on an item that is inside. */
  moved(item: T): void {
    this.#rise(item, item.slot);
    this.#sink(item, item.slot);
  }

  /** How many are before this item, counted up to `limit`. Costs a step per counted item. */
  countBefore(item: T, limit: number): number {
    let count = 0;
    const open = [0];
    for (let slot = open.pop(); slot !== undefined && count < limit; slot = open.pop()) {
      const other = this.#items[slot];
      // What comes after the item has only later ones below it: the whole branch is done.
      if (other === undefined || !this.#isBefore(other, item)) continue;
      count++;
      open.push(2 * slot + 2, 2 * slot + 1);
    }
    return count;
  }

  #rise(item: T, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#items[parentSlot];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#put(parent, slot);
      slot = parentSlot;
    }
    this.#put(item, slot);
  }

  #sink(item: T, from: number): void {
    let slot = from;
    for (;;) {
      let childSlot = 2 * slot + 1;
      let child = this.#items[childSlot];
      if (child === undefined) break;
      const right = this.#items[childSlot + 1];
      if (right !== undefined && this.#isBefore(right, child)) {
        child = right;
        childSlot++;
      }
      if (!this.#isBefore(child, item)) break;
      this.#put(child, slot);
      slot = childSlot;
    }
    this.#put(item, slot);
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item;
    item.slot = slot;
  }
}
