/** Text as XML writes it, made plain: line ends, references, and the escapes of workbooks. */
import { SheetFault, damaged } from "./sheet-fault.ts";

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};
const MAX_REFERENCE = 16;

export function plainText(written: string): string {
  const text = written.includes("\r") ? written.replace(/\r\n?/g, "\n") : written;
  return text.includes("&") ? withoutReferences(text) : text;
}

/** `_x000D_` is a character that XML cannot hold, `_x005F_` the underscore that begins no such escape. */
export function withoutEscapes(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function withoutReferences(text: string): string {
  let plain = "";
  let done = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", done)) {
    const end = text.indexOf(";", at);
    if (end === -1 || end - at > MAX_REFERENCE) throw damaged("a reference in a text has no end");
    plain += text.slice(done, at) + characterOf(text.slice(at + 1, end));
    done = end + 1;
  }
  return plain + text.slice(done);
}

function characterOf(reference: string): string {
  const named = Object.hasOwn(NAMED, reference) ? NAMED[reference] : undefined;
  if (named !== undefined) return named;
  const [, hex, decimal] = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(reference) ?? [];
  if (hex === undefined && decimal === undefined) {
    throw new SheetFault("entities", "The file uses entities of its own, which no workbook needs");
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!isCharacter) throw damaged("a reference names no character");
  return String.fromCodePoint(code);
}
