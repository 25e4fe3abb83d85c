/** Names by the time they are wanted at, the earliest at hand: a binary heap in which what was replaced stays until it is met. */
export class DueTimes {
  readonly #heap: { readonly at: number; readonly name: string }[] = [];
  readonly #wanted = new Map<string, number>();

  /** Replaces what was said of this name. Infinity: never. */
  set(name: string, at: number): void {
    if (this.#wanted.get(name) === at) return;
    this.#wanted.set(name, at);
    if (at === Infinity) return;
    this.#rise({ at, name });
    // Replaced ones must not pile up.
    if (this.#heap.length > 2 * this.#wanted.size + 64) this.#rebuild();
  }

  delete(name: string): void {
    this.#wanted.delete(name);
  }

  clear(): void {
    this.#wanted.clear();
    this.#heap.length = 0;
  }

  /** When the earliest is wanted; Infinity: none ever. */
  get nextAt(): number {
    for (let first = this.#heap[0]; first; first = this.#heap[0]) {
      if (this.#wanted.get(first.name) === first.at) return first.at;
      this.#drop();
    }
    return Infinity;
  }

  /** Earliest first. They stay: each is set again once it has been dealt with. */
  dueBy(now: number): string[] {
    // A name that was set to one time twice is in the heap twice.
    const due = new Map<string, number>();
    while (this.nextAt <= now) {
      const { name, at } = this.#drop()!;
      due.set(name, at);
    }
    for (const [name, at] of due) this.#rise({ at, name });
    return [...due.keys()];
  }

  #rise(entry: { readonly at: number; readonly name: string }): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.at <= entry.at) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #drop(): { readonly at: number; readonly name: string } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1;
      if (heap[child]!.at >= last.at) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  #rebuild(): void {
    this.#heap.length = 0;
    for (const [name, at] of this.#wanted) if (at !== Infinity) this.#rise({ at, name });
  }
}
