/**
 * A cell as nearly every one is written: `<c r="B12" s="1" t="s"><v>7</v></c>`, whole, with nothing else in it. It is
 * taken in one pass over its bytes, which costs half of what its tags would one by one. What is written in any other
 * way, rightly or not, is left to them.
 */
const LESS = 60;
const GREATER = 62;
const SLASH = 47;
const EQUALS = 61;
const SPACE = 32;
const QUOTE = 34;
const C = 99;
const V = 118;
const R = 114;
const S = 115;
const T = 116;
const NUMBER = 110;
/** More than the digits of any number that a program writes. */
const MAX_VALUE_BYTES = 32;

export class PlainCell {
  /** From 0, and from 1. Zero is no row: the cell does not say where it is. */
  column = -1;
  row = 0;
  style = 0;
  /** The letter of its type: of a number, if it names none. */
  type = NUMBER;
  /** Where its value stands. */
  from = 0;
  to = 0;

  /** Where it ends; -1 if it is not of this form, or not all there yet. */
  read(data: Uint8Array, at: number): number {
    if (data[at + 1] !== C) return -1;
    this.row = 0;
    this.column = -1;
    this.style = 0;
    this.type = NUMBER;
    let to = at + 2;
    while (data[to] === SPACE) {
      const name = data[to + 1];
      if (data[to + 2] !== EQUALS || data[to + 3] !== QUOTE) return -1;
      to += 4;
      if (name === R) to = this.#place(data, to);
      else if (name === S) to = this.#styled(data, to);
      else if (name === T) this.type = data[to++]!;
      else return -1;
      if (data[to] !== QUOTE) return -1;
      to += 1;
    }
    if (data[to] !== GREATER || data[to + 1] !== LESS) return -1;
    if (data[to + 2] !== V || data[to + 3] !== GREATER) return -1;
    this.from = to += 4;
    for (let byte = data[to]; byte !== LESS; byte = data[to]) {
      if (byte === undefined) return -1;
      to += 1;
    }
    this.to = to;
    if (to - this.from > MAX_VALUE_BYTES) return -1;
    if (to === this.from || data[to + 1] !== SLASH || data[to + 2] !== V) return -1;
    if (data[to + 3] !== GREATER || data[to + 4] !== LESS || data[to + 5] !== SLASH) return -1;
    return data[to + 6] === C && data[to + 7] === GREATER ? to + 8 : -1;
  }

  /** `B12`. */
  #place(data: Uint8Array, at: number): number {
    let to = at;
    let column = 0;
    for (; to - at < 3; to += 1) {
      const letter = data[to]! - 64;
      if (!(letter >= 1 && letter <= 26)) break;
      column = column * 26 + letter;
    }
    this.column = column - 1;
    let row = 0;
    for (const last = to + 7; to < last; to += 1) {
      const digit = data[to]! - 48;
      if (!(digit >= 0 && digit <= 9)) break;
      row = row * 10 + digit;
    }
    this.row = row;
    return to;
  }

  #styled(data: Uint8Array, at: number): number {
    let to = at;
    let style = 0;
    for (; to - at < 5; to += 1) {
      const digit = data[to]! - 48;
      if (!(digit >= 0 && digit <= 9)) break;
      style = style * 10 + digit;
    }
    this.style = style;
    return to;
  }
}
