/** The file that is read, from its opening to its closing: one descriptor, and a look whether it has changed. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { SheetFault } from "./sheet-fault.ts";

export class SourceFile {
  readonly name: string;
  readonly size: number;
  readonly #descriptor: number;
  readonly #writtenAt: bigint;
  #isClosed = false;

  constructor(path: string, maxBytes: number) {
    // Asked before it is opened: a pipe that has no writer would be waited for.
    if (!statSync(path).isFile()) {
      throw new SheetFault("not-a-spreadsheet", "This is no file: give the path of a file");
    }
    this.name = basename(path);
    this.#descriptor = openSync(path, "r");
    const { size, mtimeNs } = fstatSync(this.#descriptor, { bigint: true });
    this.size = Number(size);
    this.#writtenAt = mtimeNs;
    if (this.size > maxBytes) {
      this.close();
      throw new SheetFault(
        "too-large",
        `The file has ${this.size} bytes, and at most ${maxBytes} are read: raise limits.fileBytes if it is yours`,
      );
    }
  }

  /** So many bytes; fewer are a file that has shrunk, or one that ends too early. */
  read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.#descriptor, bytes, filled, length - filled, at + filled);
      if (count === 0) break;
      filled += count;
    }
    if (filled === length) return bytes;
    this.assertUnchanged();
    throw new SheetFault("damaged", "The file is damaged: it ends too early");
  }

  *chunks(at: number, length: number, chunkBytes = 65_536): Generator<Buffer, void> {
    for (let done = 0; done < length; done += chunkBytes) {
      yield this.read(at + done, Math.min(chunkBytes, length - done));
    }
  }

  /** What was read of two versions of a file is no version of it. */
  assertUnchanged(): void {
    if (this.isUnchanged) return;
    throw new SheetFault("file-changed", "The file was changed while it was read: read it again");
  }

  get isUnchanged(): boolean {
    const { size, mtimeNs } = fstatSync(this.#descriptor, { bigint: true });
    return Number(size) === this.size && mtimeNs === this.#writtenAt;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#descriptor);
  }
}
