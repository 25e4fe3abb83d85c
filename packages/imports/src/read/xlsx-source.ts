/** A workbook as a source of rows: its directory, its parts, then its sheet piece by piece. */
import type { FormatKind } from "./number-format.ts";
import type { ReadPlan } from "./read-plan.ts";
import { partChunks, type Package } from "./read-part.ts";
import type { RawRow, RowSource } from "./row-source.ts";
import { readSharedStrings } from "./shared-strings.ts";
import { SheetFault, damaged } from "./sheet-fault.ts";
import { SheetWarnings } from "./sheet-warnings.ts";
import type { SourceFile } from "./source-file.ts";
import type { StringTable } from "./string-table.ts";
import { readStyles } from "./styles.ts";
import { readWorkbook, type Workbook } from "./workbook.ts";
import { WorksheetSink } from "./worksheet-sink.ts";
import { XmlTokens } from "./xml-tokens.ts";
import { readDirectory, type ZipEntry } from "./zip-directory.ts";

/** A short text that many cells share must not become more than a large file could hold. */
const MAX_REPEATED = 4;

export async function openXlsx(file: SourceFile, plan: ReadPlan): Promise<RowSource> {
  const { limits } = plan;
  const from: Package = {
    ...{ file, entries: readDirectory(file), budget: { left: limits.unpackedBytes } },
  };
  const workbook = await readWorkbook(from, plan.sheet);
  const entry = from.entries.get(workbook.part);
  if (entry === undefined) throw damaged("the part of a sheet is missing", workbook.sheetName);
  const styles = workbook.styles === null ? [] : await readStyles(from, workbook.styles);
  const strings =
    workbook.sharedStrings === null
      ? null
      : await readSharedStrings(from, workbook.sharedStrings, limits);
  return new XlsxSource({ from, plan, workbook, entry, styles, strings });
}

interface XlsxParts {
  readonly from: Package;
  readonly plan: ReadPlan;
  readonly workbook: Workbook;
  readonly entry: ZipEntry;
  readonly styles: readonly FormatKind[];
  readonly strings: StringTable | null;
}

class XlsxSource implements RowSource {
  readonly format = "xlsx";
  readonly warnings = new SheetWarnings();
  readonly #parts: XlsxParts;
  width = 0;
  #read = 0;

  constructor(parts: XlsxParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.workbook.sheetName;
  }

  get progress(): number {
    const { packedBytes } = this.#parts.entry;
    return packedBytes === 0 ? 1 : Math.min(1, this.#read / packedBytes);
  }

  async *batches(): AsyncGenerator<readonly RawRow[], void> {
    const { from, entry, workbook, styles, strings, plan } = this.#parts;
    const { warnings } = this;
    const sink = new WorksheetSink({
      ...{ styles, strings, warnings, limits: plan.limits, is1904: workbook.is1904 },
      onFull: () => tokens.pause(),
    });
    const tokens = new XmlTokens(sink);
    const onRead = (bytes: number) => {
      this.#read += bytes;
    };
    for await (const chunk of partChunks(from, entry, onRead)) {
      sink.width = this.width;
      tokens.feed(chunk);
      for (let isDone = false; !isDone;) {
        isDone = tokens.run();
        const rows = sink.take();
        this.#checkText(sink.characters, rows);
        if (rows.length > 0) yield rows;
      }
    }
    tokens.end();
  }

  close(): void {
    this.#parts.strings?.close();
  }

  #checkText(characters: number, rows: readonly RawRow[]): void {
    if (characters <= this.#parts.plan.limits.unpackedBytes * MAX_REPEATED) return;
    const place = `before row ${rows.at(-1)?.row}`;
    throw new SheetFault("bomb", "The sheet repeats its texts past every measure", place);
  }
}
