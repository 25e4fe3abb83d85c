/**
 * The bytes of one text, gathered from the pieces in which it arrives and made a string at its end: a piece may end in
 * the middle of a character or of a reference.
 */
import { isUtf8 } from "node:buffer";
import { plainText, withoutEscapes } from "./plain-text.ts";
import { SheetFault, damaged } from "./sheet-fault.ts";

const AMPERSAND = 38;
const UNDERSCORE = 95;
const RETURN = 13;
/** A character may be written as `&#x1F600;`. */
const BYTES_A_CHARACTER = 12;

export class GatheredText {
  readonly #maxBytes: number;
  bytes: Buffer = Buffer.allocUnsafeSlow(1_024);
  length = 0;
  /** As it stands in the file: without references, escapes and line ends of two characters. */
  isPlain = true;

  constructor(maxCharacters: number) {
    this.#maxBytes = maxCharacters * BYTES_A_CHARACTER;
  }

  clear(): void {
    this.length = 0;
    this.isPlain = true;
  }

  add(data: Uint8Array, from: number, to: number): void {
    const needed = this.length + to - from;
    if (needed > this.bytes.length) this.#grow(needed);
    const { bytes } = this;
    let at = this.length;
    let isPlain = this.isPlain;
    for (let one = from; one < to; one += 1) {
      const byte = data[one]!;
      if (byte === AMPERSAND || byte === UNDERSCORE || byte === RETURN) isPlain = false;
      bytes[at] = byte;
      at += 1;
    }
    this.isPlain = isPlain;
    this.length = at;
  }

  /** What stands in a CDATA section: there an ampersand is one. */
  addRaw(data: Uint8Array, from: number, to: number): void {
    const escaped = Buffer.from(data.subarray(from, to))
      .toString("latin1")
      .replaceAll("&", "&amp;");
    const bytes = Buffer.from(escaped, "latin1");
    this.add(bytes, 0, bytes.length);
  }

  toText(): string {
    if (this.length === 0) return "";
    const text = decoded(this.bytes, 0, this.length);
    return this.isPlain ? text : withoutEscapes(plainText(text));
  }

  #grow(needed: number): void {
    if (needed > this.#maxBytes) {
      throw new SheetFault("cell-too-long", "A cell has more characters than are allowed");
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** Bytes that are no UTF-8 must not become text that looks like it. */
export function decoded(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString("utf8", from, to);
  if (text.includes("\ufffd") && !isUtf8(bytes.subarray(from, to))) {
    throw damaged("a text is not UTF-8");
  }
  return text;
}
