/**
 * Strings in a temporary file: what a table does not keep in memory. The file has no name from the moment it is
 * opened, so that nothing is left of it when its process is killed.
 */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decoded } from "./gathered-text.ts";

/** Only the beginning of every so many strings is kept in memory. */
const BLOCK = 64;
const WRITE_BYTES = 256 * 1024;
const CACHE_BYTES = 8 * 1024 * 1024;
const LENGTH_BYTES = 4;

export class StringSpill {
  readonly #descriptor: number;
  readonly #blockStarts: number[] = [];
  /** Blocks that were read, the one used last at the end. */
  readonly #cache = new Map<number, Buffer>();
  #cachedBytes = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #written = 0;
  #count = 0;

  constructor() {
    const path = join(tmpdir(), `holdfast-sheet-${randomUUID()}`);
    this.#descriptor = openSync(path, "wx+", 0o600);
    unlinkSync(path);
  }

  add(bytes: Buffer, from: number, to: number): void {
    const length = to - from;
    if (this.#count % BLOCK === 0) this.#blockStarts.push(this.#bytes);
    const record = Buffer.allocUnsafe(LENGTH_BYTES + length);
    record.writeUInt32LE(length, 0);
    bytes.copy(record, LENGTH_BYTES, from, to);
    this.#pending.push(record);
    this.#pendingBytes += record.length;
    this.#bytes += record.length;
    this.#count += 1;
    if (this.#pendingBytes >= WRITE_BYTES) this.#flush();
  }

  get(index: number): string {
    if (this.#pendingBytes > 0) this.#flush();
    const block = this.#block(Math.floor(index / BLOCK));
    let at = 0;
    for (let left = index % BLOCK; left > 0; left -= 1) at += LENGTH_BYTES + block.readUInt32LE(at);
    const from = at + LENGTH_BYTES;
    return decoded(block, from, from + block.readUInt32LE(at));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #block(number: number): Buffer {
    const known = this.#cache.get(number);
    if (known !== undefined) {
      this.#cache.delete(number);
      this.#cache.set(number, known);
      return known;
    }
    const from = this.#blockStarts[number]!;
    const block = Buffer.allocUnsafeSlow((this.#blockStarts[number + 1] ?? this.#bytes) - from);
    let filled = 0;
    while (filled < block.length) {
      const count = readSync(this.#descriptor, block, filled, block.length - filled, from + filled);
      if (count === 0) throw new Error("The temporary file of a sheet's strings was cut off");
      filled += count;
    }
    this.#remember(number, block);
    return block;
  }

  #remember(number: number, block: Buffer): void {
    this.#cache.set(number, block);
    this.#cachedBytes += block.length;
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cachedBytes <= CACHE_BYTES || oldest === number) break;
      this.#cache.delete(oldest);
      this.#cachedBytes -= length;
    }
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pending);
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#written + done);
    }
    this.#written += bytes.length;
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}
