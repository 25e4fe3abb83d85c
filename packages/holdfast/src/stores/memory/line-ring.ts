/**
 * The lines of a queue that have ready jobs, in a ring. Whoever leases begins where the last one
 * stopped, so the lines take fair turns across calls and callers. A turn is as many jobs as the
 * line's weight; a turn that a call did not use up goes on with the next call.
 *
 * Held and full lines stay in the ring and cost a step each. Taking them out would save that step,
 * but every end of a hold and every settle would have to put them back.
 */
import type { MemoryLine } from "./state.ts";

export class LineRing {
  #current: MemoryLine | null = null;
  #size = 0;

  /** Whose turn it is. */
  get current(): MemoryLine | null {
    return this.#current;
  }

  get size(): number {
    return this.#size;
  }

  /** A new line waits one full round: it joins right before the one whose turn it is. */
  add(line: MemoryLine): void {
    this.#size++;
    line.takenInTurn = 0;
    const current = this.#current;
    if (current === null) {
      this.#current = line;
      return;
    }
    line.next = current;
    line.previous = current.previous;
    line.previous.next = line;
    current.previous = line;
  }

  remove(line: MemoryLine): void {
    this.#size--;
    if (this.#current === line) this.#current = this.#size === 0 ? null : line.next;
    line.previous.next = line.next;
    line.next.previous = line.previous;
    line.next = line;
    line.previous = line;
  }

  /** One job of the turn was taken; after the last one the turn ends. */
  spend(): void {
    const line = this.#current;
    if (line === null) return;
    line.takenInTurn++;
    if (line.takenInTurn < (line.weight ?? 1)) return;
    line.takenInTurn = 0;
    this.#current = line.next;
  }

  /**
   * Goes on past a line that is held or full. It keeps what is left of its turn: with a fresh turn
   * instead, callers that pass everybody by would let a heavy line begin again and again.
   */
  pass(): void {
    if (this.#current !== null) this.#current = this.#current.next;
  }

  /** Every line once, from the one whose turn it is. */
  *[Symbol.iterator](): Generator<MemoryLine> {
    let line = this.#current;
    for (let left = this.#size; line !== null && left > 0; left--) {
      yield line;
      line = line.next;
    }
  }
}
