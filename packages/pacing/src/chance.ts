/**
 * Seeded chance: the same numbers on every machine and in every version of Node. Only whole-number
 * arithmetic of 32 bits is used, because nothing else is the same everywhere by definition.
 */

const GOLDEN = 0x9e3779b9;
const TWO_32 = 4_294_967_296;
const TWO_53 = 9_007_199_254_740_992;

/** The finish of MurmurHash3: every bit of the answer depends on every bit of the word. */
function mix(word: number): number {
  let bits = word | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** 32 bits of a text, by its UTF-16 code units. */
export function hashText(text: string, salt = 0): number {
  let bits = mix(salt ^ GOLDEN);
  for (let at = 0; at < text.length; at += 1) {
    bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
    bits = (bits << 13) | (bits >>> 19);
  }
  return mix(bits ^ text.length);
}

/** From two words of 32 bits to a number from 0 to below 1, with 53 bits. */
function toUnit(high: number, low: number): number {
  return ((high >>> 5) * 67_108_864 + (low >>> 6)) / TWO_53;
}

/** Chance by position: the i-th number of a seed, without those before it. */
export class IndexedChance {
  readonly #high: number;
  readonly #low: number;

  constructor(seed: string) {
    this.#high = hashText(seed, 1);
    this.#low = hashText(seed, 2);
  }

  /** From 0 to below 1. */
  at(index: number): number {
    const upper = Math.floor(index / TWO_32);
    const lower = index >>> 0;
    const high = mix(mix(this.#high ^ lower) + Math.imul(upper + 1, GOLDEN));
    const low = mix(mix(this.#low + lower) ^ Math.imul(upper + 7, GOLDEN));
    return toUnit(high, low);
  }
}

/** Chance in order: the next number of a seed. Small Fast Counter of 32 bits. */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.#a = hashText(seed, 11);
    this.#b = hashText(seed, 12);
    this.#c = hashText(seed, 13);
    for (let turns = 0; turns < 12; turns += 1) this.#word();
  }

  /** From 0 to below 1. */
  next(): number {
    const high = this.#word();
    return toUnit(high, this.#word());
  }

  #word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }
}
