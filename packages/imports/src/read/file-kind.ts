/** What a file is, by its first bytes. Its name says nothing: any name can be given to any file. */
import { SheetFault } from "./sheet-fault.ts";
import type { SourceFile } from "./source-file.ts";

export type FileKind = "zip" | "text";

const OLE = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED_PACKAGE = Buffer.from("EncryptedPackage", "utf16le");

/** Formats that a reader of text would take for one column of strange words. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^%PDF-/, "a PDF"],
  [/^\{\\rtf/, "a document (RTF)"],
  [
    /^\s*<(!doctype|html|table|head|body|script)\b/i,
    "a web page, perhaps under a spreadsheet's name",
  ],
  [/^\s*<\?xml/i, "an XML file"],
  [/^ID;P/, "a SYLK file"],
];

export function kindOf(file: SourceFile): FileKind {
  const start = file.read(0, Math.min(file.size, 512));
  if (file.size === 0) throw new SheetFault("empty-sheet", "The file is empty");
  if (start.subarray(0, 8).equals(OLE)) throw oleFault(file);
  // An archive without entries begins with its end.
  const magic = start.length >= 4 ? start.readUInt32LE(0) : 0;
  if (magic === 0x04034b50 || magic === 0x06054b50) return "zip";
  const text = start.toString("latin1", 0, 512).replace(/^\u00ef\u00bb\u00bf/, "");
  for (const [pattern, what] of OTHERS) {
    if (pattern.test(text)) throw notSheet(`This is ${what}`);
  }
  return "text";
}

/** A workbook with a password is an archive inside the older container, beside the older workbooks. */
function oleFault(file: SourceFile): SheetFault {
  let before: Buffer = Buffer.alloc(0);
  for (const chunk of file.chunks(0, file.size)) {
    if (Buffer.concat([before, chunk]).includes(ENCRYPTED_PACKAGE)) {
      return new SheetFault(
        "encrypted",
        "The workbook has a password: save it without one, then import it",
      );
    }
    before = chunk.subarray(-ENCRYPTED_PACKAGE.length);
  }
  return notSheet("This is a file of an older Office (.xls, .doc)");
}

export function notSheet(what: string): SheetFault {
  return new SheetFault("not-a-spreadsheet", `${what}: save it as .xlsx or .csv, then import it`);
}
