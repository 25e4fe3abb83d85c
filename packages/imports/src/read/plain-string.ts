/**
 * A shared string as nearly every one is written: `<si><t>text</t></si>`, whole, and without references, escapes and
 * line ends of two characters, so that its bytes are its text.
 */
const OPENINGS = ["<si><t>", '<si><t xml:space="preserve">'].map((one) => Buffer.from(one));
const CLOSING = Buffer.from("</t></si>");
const LESS = 60;
const AMPERSAND = 38;
const UNDERSCORE = 95;
const RETURN = 13;

export class PlainString {
  from = 0;
  to = 0;

  /** Where the element ends; -1 if it is not of this form, not all there yet, or longer than `maxBytes`. */
  read(data: Uint8Array, at: number, maxBytes: number): number {
    const opening = OPENINGS.find((one) => stands(data, at, one));
    if (opening === undefined) return -1;
    this.from = at + opening.length;
    const last = Math.min(data.length, this.from + maxBytes);
    for (let to = this.from; to < last; to += 1) {
      const byte = data[to]!;
      if (byte === LESS) {
        this.to = to;
        return stands(data, to, CLOSING) ? to + CLOSING.length : -1;
      }
      if (byte === AMPERSAND || byte === UNDERSCORE || byte === RETURN) return -1;
    }
    return -1;
  }
}

function stands(data: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let one = 0; one < bytes.length; one += 1) {
    if (data[at + one] !== bytes[one]) return false;
  }
  return true;
}
