/**
 * A sorted list that pages are read from. Items are deleted by a mark and swept once half of the list
 * is marks, so deleting costs the same whether the list holds ten or a million, and a cursor (the
 * sort key of the last item looked at) stays good whatever is deleted around it.
 */
export interface ListItem {
  deleted: boolean;
}

export interface Scan<T> {
  /** Where to begin; see {@link OrderedList.firstIndex}. */
  readonly start: number;
  readonly direction: "up" | "down";
  /** At most so many in the page. */
  readonly limit: number;
  /** At most so many looked at, whether they are wanted or not. */
  readonly lookAtMost: number;
  readonly wants: (item: T) => boolean;
}

export interface Scanned<T> {
  readonly items: T[];
  /** The last one looked at; null when there is nothing beyond it. */
  readonly last: T | null;
}

export class OrderedList<T extends ListItem> {
  readonly #isBefore: (a: T, b: T) => boolean;
  #items: T[] = [];
  #deleted = 0;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** Marks included: as a place to start from, not as a count. */
  get length(): number {
    return this.#items.length;
  }

  /** Nearly always at the end, where it costs nothing. */
  add(item: T): void {
    const last = this.#items.at(-1);
    if (last === undefined || this.#isBefore(last, item)) this.#items.push(item);
    else
      this.#items.splice(
        this.firstIndex((other) => this.#isBefore(item, other)),
        0,
        item,
      );
  }

  delete(item: T): void {
    item.deleted = true;
    this.#deleted++;
    if (this.#deleted * 2 <= this.#items.length) return;
    this.#items = this.#items.filter((other) => !other.deleted);
    this.#deleted = 0;
  }

  /** The index of the first item that is past some point: false before it, true from there on. */
  firstIndex(isPast: (item: T) => boolean): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const item = this.#items[middle];
      if (item !== undefined && isPast(item)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  scan(request: Scan<T>): Scanned<T> {
    const { start, direction, limit, lookAtMost, wants } = request;
    const items: T[] = [];
    if (limit <= 0) return { items, last: null };
    const step = direction === "up" ? 1 : -1;
    let looked = 0;
    for (let index = start; ; index += step) {
      const item = this.#items[index];
      if (item === undefined) return { items, last: null };
      if (!item.deleted && wants(item)) items.push(item);
      looked++;
      if (items.length < limit && looked < lookAtMost) continue;
      const isAtTheEnd = this.#items[index + step] === undefined;
      return { items, last: isAtTheEnd ? null : item };
    }
  }
}
