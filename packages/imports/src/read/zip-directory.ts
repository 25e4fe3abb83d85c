/**
 * The central directory of an archive, with the 64-bit forms. It is read from the end, as unpackers do, and it must
 * be exactly where the end says: an archive that is something else as well (a picture, a program) is refused.
 */
import { SheetFault, damaged } from "./sheet-fault.ts";
import type { SourceFile } from "./source-file.ts";

export interface ZipEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  /** Where its local header begins. */
  readonly headerAt: number;
  /** Where the data of all entries end. */
  readonly dataEnd: number;
}

const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const ENTRY = 0x02014b50;
const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const MAX_COMMENT = 65_535;
/** A workbook of a hundred sheets has some five hundred. */
const MAX_ENTRIES = 2_000;
const MAX_DIRECTORY_BYTES = 4 * 1024 * 1024;
/** Where a field of 32 bits has this, the true value is in the extra field. */
const SEE_EXTRA = 0xffffffff;

/** By name in lower case, with slashes: that is how one part of a workbook names another. */
export function readDirectory(file: SourceFile): ReadonlyMap<string, ZipEntry> {
  const { count, at, bytes } = findDirectory(file);
  if (count > MAX_ENTRIES || bytes > MAX_DIRECTORY_BYTES) {
    throw new SheetFault(
      "bomb",
      `The archive has ${count} entries, and a workbook has at most ${MAX_ENTRIES}`,
    );
  }
  const directory = file.read(at, bytes);
  const entries = new Map<string, ZipEntry>();
  let position = 0;
  for (let seen = 0; seen < count; seen += 1) {
    if (position + 46 > bytes || directory.readUInt32LE(position) !== ENTRY) {
      throw damaged("its directory has fewer entries than it says");
    }
    const nameTo = position + 46 + directory.readUInt16LE(position + 28);
    const extraTo = nameTo + directory.readUInt16LE(position + 30);
    const next = extraTo + directory.readUInt16LE(position + 32);
    if (next > bytes) throw damaged("an entry of its directory is cut off");
    const name = entryName(directory.subarray(position + 46, nameTo));
    const extra = directory.subarray(nameTo, extraTo);
    if (entries.has(name)) throw damaged("two of its entries have one name", name);
    entries.set(name, entryOf(name, directory.subarray(position, nameTo), extra, at));
    position = next;
  }
  if (position !== bytes) throw damaged("its directory has more than it says");
  return entries;
}

export function entryName(bytes: Buffer): string {
  return bytes.toString("utf8").replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();
}

function entryOf(name: string, fixed: Buffer, extra: Buffer, dataEnd: number): ZipEntry {
  const wide = new WideFields(extra, name);
  // In this order they stand in the extra field, too.
  const unpackedBytes = wide.orElse(fixed.readUInt32LE(24));
  const packedBytes = wide.orElse(fixed.readUInt32LE(20));
  const headerAt = wide.orElse(fixed.readUInt32LE(42));
  return {
    ...{ name, flags: fixed.readUInt16LE(8), method: fixed.readUInt16LE(10) },
    ...{ crc: fixed.readUInt32LE(16), packedBytes, unpackedBytes, headerAt, dataEnd },
  };
}

/** The fields of 64 bits of an entry, in their order. */
class WideFields {
  readonly #field: Buffer | null;
  readonly #name: string;
  #at = 0;

  constructor(extra: Buffer, name: string) {
    this.#field = extraField(extra, 1);
    this.#name = name;
  }

  orElse(narrow: number): number {
    if (narrow !== SEE_EXTRA) return narrow;
    const field = this.#field;
    if (field === null || this.#at + 8 > field.length) {
      throw damaged("an entry lacks its size of 64 bits", this.#name);
    }
    this.#at += 8;
    return wideNumber(field, this.#at - 8);
  }
}

function extraField(extra: Buffer, wanted: number): Buffer | null {
  let at = 0;
  while (at + 4 <= extra.length) {
    const to = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === wanted)
      return extra.subarray(at + 4, Math.min(to, extra.length));
    at = to;
  }
  return null;
}

/** A number past what is exact is past every file, too: what compares it refuses it. */
function wideNumber(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

interface Directory {
  readonly count: number;
  readonly at: number;
  readonly bytes: number;
}

function findDirectory(file: SourceFile): Directory {
  const tailBytes = Math.min(file.size, END_BYTES + MAX_COMMENT);
  const tailAt = file.size - tailBytes;
  const tail = file.read(tailAt, tailBytes);
  for (let at = tailBytes - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    // Its comment reaches to the end of the file, or these four bytes are something else.
    if (at + END_BYTES + tail.readUInt16LE(at + 20) !== tailBytes) continue;
    return directoryOf(file, tail.subarray(at, at + END_BYTES), tailAt + at);
  }
  throw damaged("the archive has no end: the file is cut off, or none");
}

function directoryOf(file: SourceFile, end: Buffer, endAt: number): Directory {
  const narrow = {
    ...{ count: end.readUInt16LE(10), bytes: end.readUInt32LE(12), at: end.readUInt32LE(16) },
  };
  const isWide = narrow.count === 0xffff || narrow.bytes === SEE_EXTRA || narrow.at === SEE_EXTRA;
  const locator = isWide && endAt >= LOCATOR_BYTES ? file.read(endAt - LOCATOR_BYTES, 20) : null;
  if (locator?.readUInt32LE(0) !== LOCATOR_64) return checkPlace(narrow, endAt);
  const wideAt = wideNumber(locator, 8);
  if (wideAt + 56 > endAt - LOCATOR_BYTES) throw damaged("the archive's end of 64 bits is missing");
  const wide = file.read(wideAt, 56);
  if (wide.readUInt32LE(0) !== END_64) throw damaged("the archive's end of 64 bits is missing");
  const directory = {
    ...{ count: wideNumber(wide, 32), bytes: wideNumber(wide, 40), at: wideNumber(wide, 48) },
  };
  return checkPlace(directory, wideAt);
}

function checkPlace(directory: Directory, endAt: number): Directory {
  if (directory.at + directory.bytes === endAt) return directory;
  throw damaged("the archive's directory is not where its end says");
}
