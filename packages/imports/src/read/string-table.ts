/**
 * The shared strings of a workbook, by number. They are the one thing of a sheet that must be at hand as a whole, so
 * they are kept as bytes: a string of JavaScript takes several times as much. What is past the cap goes to a file.
 */
import { decoded } from "./gathered-text.ts";
import { StringSpill } from "./string-spill.ts";

/** Of strings that were just made; the values of a column often are few. */
const CACHED = 4_096;
/** Longer ones are not kept: so the cache is small whatever is in it. */
const CACHED_CHARACTERS = 128;
/** Beside its bytes each has its beginning. */
const START_BYTES = 4;

export interface StringTableOptions {
  /** How many bytes there can be at most, as far as is known. */
  readonly expectedBytes: number;
  readonly maxBytes: number;
}

export class StringTable {
  readonly #maxBytes: number;
  readonly #cachedNumbers = new Int32Array(CACHED).fill(-1);
  readonly #cachedTexts: string[] = Array.from({ length: CACHED }, () => "");
  /** Memory that is not written to yet is not taken from the system. */
  readonly #bytes: Buffer;
  #starts = new Uint32Array(1_024);
  #kept = 0;
  #used = 0;
  #spill: StringSpill | null = null;
  #count = 0;

  constructor({ expectedBytes, maxBytes }: StringTableOptions) {
    this.#maxBytes = maxBytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(expectedBytes, maxBytes));
  }

  get count(): number {
    return this.#count;
  }

  get isSpilled(): boolean {
    return this.#spill !== null;
  }

  add(bytes: Buffer, from: number, to: number): void {
    this.#count += 1;
    const length = to - from;
    const needed = this.#used + length;
    const isFull = needed + START_BYTES * (this.#kept + 1) > this.#maxBytes;
    if (this.#spill !== null || isFull || needed > this.#bytes.length) {
      this.#spill ??= new StringSpill();
      this.#spill.add(bytes, from, to);
      return;
    }
    if (this.#kept + 1 >= this.#starts.length) {
      const more = new Uint32Array(this.#starts.length * 2);
      more.set(this.#starts);
      this.#starts = more;
    }
    bytes.copy(this.#bytes, this.#used, from, to);
    this.#used = needed;
    this.#kept += 1;
    this.#starts[this.#kept] = needed;
  }

  /** The index is less than `count`. */
  get(index: number): string {
    const slot = index % CACHED;
    if (this.#cachedNumbers[slot] === index) return this.#cachedTexts[slot]!;
    const text =
      index < this.#kept
        ? decoded(this.#bytes, this.#starts[index]!, this.#starts[index + 1]!)
        : this.#spill!.get(index - this.#kept);
    if (text.length <= CACHED_CHARACTERS) {
      this.#cachedNumbers[slot] = index;
      this.#cachedTexts[slot] = text;
    }
    return text;
  }

  close(): void {
    this.#spill?.close();
    this.#spill = null;
  }
}
