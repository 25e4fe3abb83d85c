/**
 * How the bytes of a CSV are to be read. A mark at its beginning says it; without one the whole file is looked at, which
 * costs milliseconds: a file that is UTF-8 up to its last line is not UTF-8.
 */
import { isUtf8 } from "node:buffer";
import { notSheet } from "./file-kind.ts";
import { SheetFault } from "./sheet-fault.ts";
import type { SourceFile } from "./source-file.ts";

export interface CsvEncoding {
  /** As `TextDecoder` calls it. */
  readonly label: string;
  /** Of the mark in front, which is no text. */
  readonly markBytes: number;
}

const MARKS: readonly (readonly [string, string])[] = [
  ["efbbbf", "utf-8"],
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
];
const LOOKED_BYTES = 4_096;
/** Text has none of these; bell, escape and end of file do occur. */
const BINARY = new Set([0, 1, 2, 3, 4, 5, 6, 8, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);

export function encodingOf(file: SourceFile, wanted: string | null): CsvEncoding {
  const start = file.read(0, Math.min(file.size, LOOKED_BYTES));
  const hex = start.toString("hex", 0, 4);
  if (hex === "fffe0000" || hex === "0000feff") {
    throw new SheetFault("bad-encoding", "The file is written in UTF-32: save it as UTF-8");
  }
  const mark = MARKS.find(([bytes]) => hex.startsWith(bytes));
  if (mark !== undefined && (wanted === null || wanted === mark[1])) {
    return { label: mark[1], markBytes: mark[0].length / 2 };
  }
  if (wanted !== null) return { label: wanted, markBytes: 0 };
  return { label: wideLabel(start) ?? narrowLabel(file), markBytes: 0 };
}

/** In UTF-16 every other byte of plain text is zero. */
function wideLabel(start: Buffer): string | null {
  let even = 0;
  let odd = 0;
  for (let at = 0; at + 1 < start.length; at += 2) {
    if (start[at] === 0) even += 1;
    if (start[at + 1] === 0) odd += 1;
  }
  const enough = Math.max(1, start.length / 4);
  if (odd >= enough && even === 0) return "utf-16le";
  return even >= enough && odd === 0 ? "utf-16be" : null;
}

function narrowLabel(file: SourceFile): string {
  let label = "utf-8";
  let carried: Buffer = Buffer.alloc(0);
  for (const chunk of file.chunks(0, file.size)) {
    for (const byte of chunk) {
      if (byte < 26 && BINARY.has(byte)) throw notSheet("This is no text and no workbook");
    }
    if (label !== "utf-8") continue;
    const bytes: Buffer = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const to = wholeCharacters(bytes);
    if (!isUtf8(bytes.subarray(0, to))) label = "windows-1252";
    carried = bytes.subarray(to);
  }
  return label === "utf-8" && carried.length > 0 ? "windows-1252" : label;
}

/** Up to where the last character is complete. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** What Windows-1252 has where Latin 1 has control characters. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

export type Decode = (chunk: Buffer | null) => string;

/** Piece by piece; null at the end. Throws a TypeError for bytes that are no text in this encoding. */
export function decoderOf(label: string): Decode {
  // Some versions of Node read Windows-1252 as Latin 1, so it is read here.
  if (label === "windows-1252") {
    return (chunk) =>
      chunk === null
        ? ""
        : chunk
            .toString("latin1", 0, chunk.length)
            .replace(/[\u0080-\u009f]/g, (one) => WINDOWS[one.charCodeAt(0) - 0x80]!);
  }
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  return (chunk) => (chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }));
}
