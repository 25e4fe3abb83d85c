/**
 * How many characters of payload one call of `lease` may still hand out. The first job comes whatever its
 * size, and once a job does not fit nothing comes after it.
 */
export class ByteBudget {
  #left: number;
  #isUntouched = true;
  #isSpent = false;

  constructor(maxBytes = Infinity) {
    this.#left = maxBytes;
  }

  /** Something was left behind. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Takes all of it if that fits, else nothing. */
  takeAll(length: number): boolean {
    if (this.#isSpent || length > this.#left) return false;
    this.#left -= length;
    if (length > 0) this.#isUntouched = false;
    return true;
  }

  /** Takes the payload of one job. False: it does not fit, and nothing will. */
  take(length: number): boolean {
    if (this.#isSpent || (length > this.#left && !this.#isUntouched)) {
      this.#isSpent = true;
      return false;
    }
    this.#left -= length;
    this.#isUntouched = false;
    return true;
  }
}
