/** One XML part of a workbook, from its entry to its end. */
import { damaged } from "./sheet-fault.ts";
import type { SourceFile } from "./source-file.ts";
import { unpack, type UnpackBudget } from "./unpack.ts";
import { XmlTokens, type XmlSink } from "./xml-tokens.ts";
import type { ZipEntry } from "./zip-directory.ts";

/** What the parts of one workbook are read from. */
export interface Package {
  readonly file: SourceFile;
  readonly entries: ReadonlyMap<string, ZipEntry>;
  readonly budget: UnpackBudget;
}

/** A part that lists things: read at once, and small in every workbook. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

export async function readPart(from: Package, name: string, sink: XmlSink): Promise<void> {
  const entry = from.entries.get(name);
  if (entry === undefined) throw damaged("a part is missing", name);
  const tokens = new XmlTokens(sink);
  for await (const chunk of partChunks(from, entry)) {
    tokens.feed(chunk);
    tokens.run();
  }
  tokens.end();
}

export async function readList(from: Package, name: string, sink: XmlSink): Promise<void> {
  if ((from.entries.get(name)?.unpackedBytes ?? 0) > MAX_LIST_BYTES) {
    throw damaged("a part is far larger than in any workbook", name);
  }
  await readPart(from, name, sink);
}

/** As UTF-8: a part may be written in UTF-16, with its mark in front. */
export async function* partChunks(
  { file, budget }: Package,
  entry: ZipEntry,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer, void> {
  let decoder: TextDecoder | null = null;
  let isFirst = true;
  for await (const chunk of unpack(file, entry, { budget, onRead })) {
    if (isFirst) decoder = wideDecoder(chunk);
    isFirst = false;
    if (decoder === null) yield chunk;
    else yield asUtf8(decoder, chunk, entry.name);
  }
  if (decoder !== null) yield asUtf8(decoder, null, entry.name);
}

function wideDecoder(start: Buffer): TextDecoder | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder("utf-16le", { fatal: true });
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder("utf-16be", { fatal: true });
  return null;
}

function asUtf8(decoder: TextDecoder, chunk: Buffer | null, place: string): Buffer {
  try {
    return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode(), "utf8");
  } catch {
    throw damaged("a part is not the UTF-16 that it says", place);
  }
}

export const ignore = (): void => {};
