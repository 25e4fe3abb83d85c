/** The opening tag that was just read: its attributes, by their names without a prefix. */
import { plainText } from "./plain-text.ts";
import { damaged } from "./sheet-fault.ts";

const MAX_ATTRIBUTES = 64;
/** Four numbers an attribute: from where to where its name and its value stand. */
const NUMBERS = 4;

export class XmlTag {
  readonly #places = new Int32Array(MAX_ATTRIBUTES * NUMBERS);
  #count = 0;
  data: Buffer = Buffer.alloc(0);

  begin(data: Buffer): void {
    this.data = data;
    this.#count = 0;
  }

  add(nameFrom: number, nameTo: number, from: number, to: number): void {
    if (this.#count === MAX_ATTRIBUTES) throw damaged("a tag has too many attributes");
    const at = this.#count * NUMBERS;
    const places = this.#places;
    places[at] = nameFrom;
    places[at + 1] = nameTo;
    places[at + 2] = from;
    places[at + 3] = to;
    this.#count += 1;
  }

  /** Of which attribute it is, to be given to `from` and `to`; -1 if there is none. */
  indexOf(name: string): number {
    const places = this.#places;
    const { data } = this;
    const { length } = name;
    next: for (let at = 0; at < this.#count * NUMBERS; at += NUMBERS) {
      const from = places[at]!;
      if (places[at + 1]! - from !== length) continue;
      for (let one = 0; one < length; one += 1) {
        if (data[from + one] !== name.charCodeAt(one)) continue next;
      }
      return at;
    }
    return -1;
  }

  from(index: number): number {
    return this.#places[index + 2]!;
  }

  to(index: number): number {
    return this.#places[index + 3]!;
  }

  text(name: string): string | null {
    const index = this.indexOf(name);
    if (index === -1) return null;
    return plainText(this.data.toString("utf8", this.from(index), this.to(index)));
  }

  /** A whole number that is not negative; -1 if there is none. */
  whole(name: string): number {
    const index = this.indexOf(name);
    return index === -1 ? -1 : wholeOf(this.data, this.from(index), this.to(index));
  }

  isTrue(name: string): boolean {
    const text = this.text(name);
    return text === "1" || text === "true";
  }
}

/** Of at most nine digits: more count nothing that a sheet has. */
export function wholeOf(data: Uint8Array, from: number, to: number): number {
  if (to === from || to - from > 9) return -1;
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = data[at]! - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
