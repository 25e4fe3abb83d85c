import type { Arg } from "./client-like.ts";

/** Arguments of items that follow one another and are of one kind: the kind, how many, the items. */
export class Runs {
  readonly args: Arg[] = [];
  /** How many runs there are. */
  count = 0;
  #kind = 0;
  #sizeAt = 0;

  /** Begins an item; what else it has is pushed behind. */
  add(kind: number, id: string): void {
    if (kind !== this.#kind) {
      this.#kind = kind;
      this.count += 1;
      this.#sizeAt = this.args.push(kind, 0) - 1;
    }
    this.args[this.#sizeAt] = Number(this.args[this.#sizeAt]) + 1;
    this.args.push(id);
  }
}
