/** Archives as tests need them: honest ones, and ones that lie. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string;
  readonly data: string | Buffer;
  readonly isStored?: boolean;
  readonly hasDescriptor?: boolean;
  readonly isWide?: boolean;
  /** What the headers say instead of the truth. */
  readonly claims?: {
    readonly unpackedBytes?: number;
    readonly localUnpackedBytes?: number;
    readonly localName?: string;
    readonly crc?: number;
    readonly flags?: number;
    readonly method?: number;
  };
}

export interface ZipOptions {
  readonly comment?: string;
  /** The directory's end in 64 bits, too. */
  readonly isWide?: boolean;
  /** Bytes in front of the archive, which its offsets know nothing of. */
  readonly prefix?: Buffer;
}

export function zipOf(files: readonly ZipFile[], options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const file of files) {
    const { local, central } = entryOf(file, at);
    parts.push(local);
    directory.push(central);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const end = endOf(files.length, central.length, at, options);
  return Buffer.concat([options.prefix ?? Buffer.alloc(0), ...parts, central, end]);
}

function entryOf(file: ZipFile, at: number): { local: Buffer; central: Buffer } {
  const { claims = {} } = file;
  const data = typeof file.data === "string" ? Buffer.from(file.data, "utf8") : file.data;
  const packed = file.isStored ? data : deflateRawSync(data);
  const method = claims.method ?? (file.isStored ? 0 : 8);
  const flags = (claims.flags ?? 0) | (file.hasDescriptor ? 8 : 0);
  const crc = claims.crc ?? crc32(data);
  const unpackedBytes = claims.unpackedBytes ?? data.length;
  const name = Buffer.from(file.name);
  const localName = Buffer.from(claims.localName ?? file.name);
  const wide = (values: readonly number[]) => {
    const extra = Buffer.alloc(4 + values.length * 8);
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(values.length * 8, 2);
    for (const [index, value] of values.entries())
      extra.writeBigUInt64LE(BigInt(value), 4 + index * 8);
    return extra;
  };
  const field = (value: number) => (file.isWide ? 0xffffffff : value);

  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(file.isWide ? 45 : 20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  const later = file.hasDescriptor === true;
  header.writeUInt32LE(later ? 0 : crc, 14);
  header.writeUInt32LE(later ? 0 : field(packed.length), 18);
  header.writeUInt32LE(later ? 0 : field(claims.localUnpackedBytes ?? unpackedBytes), 22);
  header.writeUInt16LE(localName.length, 26);
  const localExtra = file.isWide ? wide([unpackedBytes, packed.length]) : Buffer.alloc(0);
  header.writeUInt16LE(localExtra.length, 28);
  const descriptor = Buffer.alloc(later ? 16 : 0);
  if (later) {
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(crc, 4);
    descriptor.writeUInt32LE(packed.length, 8);
    descriptor.writeUInt32LE(data.length, 12);
  }

  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(45, 4);
  entry.writeUInt16LE(file.isWide ? 45 : 20, 6);
  entry.writeUInt16LE(flags, 8);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(field(packed.length), 20);
  entry.writeUInt32LE(field(unpackedBytes), 24);
  entry.writeUInt16LE(name.length, 28);
  const extra = file.isWide ? wide([unpackedBytes, packed.length, at]) : Buffer.alloc(0);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt32LE(field(at), 42);
  return {
    local: Buffer.concat([header, localName, localExtra, packed, descriptor]),
    central: Buffer.concat([entry, name, extra]),
  };
}

function endOf(
  count: number,
  bytes: number,
  at: number,
  { comment = "", isWide }: ZipOptions,
): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isWide ? 0xffff : Math.min(count, 0xffff), 8);
  end.writeUInt16LE(isWide ? 0xffff : Math.min(count, 0xffff), 10);
  end.writeUInt32LE(isWide ? 0xffffffff : bytes, 12);
  end.writeUInt32LE(isWide ? 0xffffffff : at, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  if (!isWide) return Buffer.concat([end, Buffer.from(comment)]);
  const wide = Buffer.alloc(56);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(44n, 4);
  wide.writeUInt16LE(45, 12);
  wide.writeUInt16LE(45, 14);
  wide.writeBigUInt64LE(BigInt(count), 24);
  wide.writeBigUInt64LE(BigInt(count), 32);
  wide.writeBigUInt64LE(BigInt(bytes), 40);
  wide.writeBigUInt64LE(BigInt(at), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(at + bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([wide, locator, end, Buffer.from(comment)]);
}
