/**
 * Which row of a file had a key last. Keys are kept as 53 bits of a hash, twelve bytes each: half a million rows
 * take 12 MB. Two different keys with one hash, one chance in 70,000 for such a file, would be reported as one;
 * what is written does not depend on it.
 */
const FULL = 0.7;

export class KeyIndex {
  #hashes = new Float64Array(1024);
  #rows = new Uint32Array(1024);
  #size = 0;

  /** The row that had it before, or 0. */
  put(key: string, row: number): number {
    const hash = hashOf(key);
    const at = this.#find(hash);
    const before = this.#rows[at] as number;
    this.#hashes[at] = hash;
    this.#rows[at] = row;
    if (before === 0) {
      this.#size += 1;
      if (this.#size > this.#rows.length * FULL) this.#grow();
    }
    return before;
  }

  get size(): number {
    return this.#size;
  }

  #find(hash: number): number {
    const mask = this.#rows.length - 1;
    let at = hash % this.#rows.length;
    while (this.#rows[at] !== 0 && this.#hashes[at] !== hash) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const [hashes, rows] = [this.#hashes, this.#rows];
    this.#hashes = new Float64Array(hashes.length * 2);
    this.#rows = new Uint32Array(rows.length * 2);
    for (const [from, row] of rows.entries()) {
      if (row === 0) continue;
      const at = this.#find(hashes[from] as number);
      this.#hashes[at] = hashes[from] as number;
      this.#rows[at] = row;
    }
  }
}

/** cyrb53: two mixed 32-bit hashes, of which 53 bits are taken. */
function hashOf(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
