/** Reads the shared strings. A rich text is the text of its runs; what tells how a name is spoken is none of it. */
import { GatheredText } from "./gathered-text.ts";
import { PlainString } from "./plain-string.ts";
import { readPart, type Package } from "./read-part.ts";
import { StringTable } from "./string-table.ts";

export interface SharedStringsOptions {
  readonly cellCharacters: number;
  readonly stringBytes: number;
}

export async function readSharedStrings(
  from: Package,
  name: string,
  { cellCharacters, stringBytes }: SharedStringsOptions,
): Promise<StringTable> {
  const expectedBytes = from.entries.get(name)?.unpackedBytes ?? 0;
  const table = new StringTable({ expectedBytes, maxBytes: stringBytes });
  const gathered = new GatheredText(cellCharacters);
  const plain = new PlainString();
  let isInText = false;
  let phonetic = 0;
  try {
    await readPart(from, name, {
      whole(data, at) {
        // A text within one that is spoken is none of it, wherever it stands.
        if (phonetic !== 0 || isInText) return -1;
        const end = plain.read(data, at, cellCharacters);
        if (end !== -1) table.add(data, plain.from, plain.to);
        return end;
      },
      open(element) {
        if (element === "t") isInText = phonetic === 0;
        else if (element === "si") gathered.clear();
        else if (element === "rPh") phonetic += 1;
      },
      close(element) {
        if (element === "t") isInText = false;
        else if (element === "si") keep(table, gathered);
        else if (element === "rPh") phonetic -= 1;
      },
      text(data, start, end, isRaw) {
        if (!isInText) return;
        if (isRaw) gathered.addRaw(data, start, end);
        else gathered.add(data, start, end);
      },
    });
  } catch (error) {
    table.close();
    throw error;
  }
  return table;
}

function keep(table: StringTable, gathered: GatheredText): void {
  if (gathered.isPlain) {
    table.add(gathered.bytes, 0, gathered.length);
  } else {
    const bytes = Buffer.from(gathered.toText(), "utf8");
    table.add(bytes, 0, bytes.length);
  }
}
