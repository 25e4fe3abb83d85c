/**
 * One entry of an archive, unpacked in pieces. What a header claims is checked before the first byte and counted on the
 * way: a bomb is refused, a liar is caught, and the checksum tells every other damage.
 */
import { Readable, pipeline } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { SheetFault, damaged } from "./sheet-fault.ts";
import type { SourceFile } from "./source-file.ts";
import { entryName, type ZipEntry } from "./zip-directory.ts";

/** What may still be unpacked, over all entries of a file. */
export interface UnpackBudget {
  left: number;
}

const LOCAL_HEADER = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;
const CHUNK_BYTES = 65_536;
const MAX_RATIO = 200;
/** Small entries of many equal rows are packed tightly, and cost nothing. */
const RATIO_FROM_BYTES = 4 * 1024 * 1024;

export interface UnpackOptions {
  readonly budget: UnpackBudget;
  /** Is told of every packed byte that was read. */
  readonly onRead?: (bytes: number) => void;
}

export async function* unpack(
  file: SourceFile,
  entry: ZipEntry,
  { budget, onRead }: UnpackOptions,
): AsyncGenerator<Buffer, void> {
  checkClaims(entry, budget);
  const dataAt = findData(file, entry);
  budget.left -= entry.unpackedBytes;
  const packed = packedChunks(file, dataAt, entry, onRead);
  let counted = 0;
  let crc = 0;
  for await (const chunk of entry.method === STORED ? packed : inflated(packed, entry)) {
    counted += chunk.length;
    if (counted > entry.unpackedBytes) {
      throw new SheetFault("bomb", "An entry unpacks to more than its header says", entry.name);
    }
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (counted === entry.unpackedBytes && crc === entry.crc) return;
  file.assertUnchanged();
  throw damaged("an entry is not what its checksum says", entry.name);
}

function checkClaims(entry: ZipEntry, budget: UnpackBudget): void {
  const { name, flags, method, packedBytes, unpackedBytes } = entry;
  // Encrypted, strongly encrypted, with a hidden directory.
  if ((flags & 0x2041) !== 0) {
    throw new SheetFault("encrypted", "The archive has a password: pack it without one", name);
  }
  if (method !== STORED && method !== DEFLATED) {
    throw damaged("it is packed in a way that workbooks are not", name);
  }
  if (method === STORED && packedBytes !== unpackedBytes) {
    throw damaged("an entry has two sizes", name);
  }
  if (unpackedBytes > RATIO_FROM_BYTES && unpackedBytes > packedBytes * MAX_RATIO) {
    throw new SheetFault(
      "bomb",
      `An entry of ${packedBytes} bytes would unpack to ${unpackedBytes}: no workbook is packed like that`,
      name,
    );
  }
  if (unpackedBytes > budget.left) {
    throw new SheetFault(
      "too-large",
      `The file unpacks to more than is allowed: raise limits.unpackedBytes if it is yours`,
      name,
    );
  }
}

/** The local header says the same as the directory, or the file shows different contents to different readers. */
function findData(file: SourceFile, entry: ZipEntry): number {
  const { name, headerAt, packedBytes, unpackedBytes, dataEnd } = entry;
  if (headerAt + 30 > dataEnd) throw damaged("an entry is not where the directory says", name);
  const header = file.read(headerAt, 30);
  if (header.readUInt32LE(0) !== LOCAL_HEADER) {
    throw damaged("an entry is not where the directory says", name);
  }
  const nameBytes = header.readUInt16LE(26);
  const dataAt = headerAt + 30 + nameBytes + header.readUInt16LE(28);
  if (dataAt + packedBytes > dataEnd) throw damaged("an entry reaches into the directory", name);
  if (entryName(file.read(headerAt + 30, nameBytes)) !== name) {
    throw damaged("an entry has two names", name);
  }
  // Bit 3: the sizes stand behind the data. All bits set: in the extra field.
  const isSizeLater = (header.readUInt16LE(6) & 8) !== 0;
  const claims = [header.readUInt32LE(18), header.readUInt32LE(22)];
  const isSame = claims[0] === packedBytes && claims[1] === unpackedBytes;
  if (isSizeLater || isSame || claims.includes(0xffffffff)) return dataAt;
  throw damaged("an entry has two sizes", name);
}

function* packedChunks(
  file: SourceFile,
  at: number,
  entry: ZipEntry,
  onRead?: (bytes: number) => void,
): Generator<Buffer, void> {
  for (const chunk of file.chunks(at, entry.packedBytes, CHUNK_BYTES)) {
    onRead?.(chunk.length);
    yield chunk;
  }
}

async function* inflated(packed: Iterable<Buffer>, entry: ZipEntry): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  // One that fails ends the other; the loop below hears of it.
  pipeline(Readable.from(packed, { objectMode: false }), inflate, () => {});
  try {
    for await (const chunk of inflate) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code?.startsWith("Z_") ? damaged("an entry cannot be unpacked", entry.name) : error;
  } finally {
    inflate.destroy();
  }
}
