/** A CSV as a source of rows. All of its values are text: what a person typed is not guessed at. */
import { decoderOf, encodingOf, type CsvEncoding, type Decode } from "./csv-encoding.ts";
import { CsvRecords } from "./csv-records.ts";
import { separatorOf } from "./csv-separator.ts";
import { notSheet } from "./file-kind.ts";
import type { ReadPlan } from "./read-plan.ts";
import type { RawRow, RowSource } from "./row-source.ts";
import { SheetFault } from "./sheet-fault.ts";
import { SheetWarnings } from "./sheet-warnings.ts";
import type { SourceFile } from "./source-file.ts";

const CHUNK_BYTES = 65_536;
/** Excel reads the separator from this line, and shows it in no row. */
const SEPARATOR_LINE = /^sep=([^\r\n])\r?\n/i;

export async function openCsv(file: SourceFile, plan: ReadPlan): Promise<RowSource> {
  if (typeof plan.sheet === "number" && plan.sheet > 0) {
    throw new SheetFault("missing-sheet", "A CSV is one sheet: its index is 0");
  }
  const encoding = encodingOf(file, plan.encoding);
  const decode = decoding(decoderOf(encoding.label), encoding.label);
  const length = Math.min(CHUNK_BYTES, file.size - encoding.markBytes);
  const sample = decode(file.read(encoding.markBytes, length), 1);
  if (sample.includes("\0")) throw notSheet("This is no text and no workbook");
  const line = SEPARATOR_LINE.exec(sample);
  const text = line === null ? sample : sample.slice(line[0].length);
  const separator = plan.separator ?? line?.[1] ?? separatorOf(text);
  return new CsvSource({ file, plan, encoding, decode, text, separator });
}

interface CsvParts {
  readonly file: SourceFile;
  readonly plan: ReadPlan;
  readonly encoding: CsvEncoding;
  readonly decode: (chunk: Buffer | null, row: number) => string;
  /** Of the first piece. */
  readonly text: string;
  readonly separator: string;
}

class CsvSource implements RowSource {
  readonly format = "csv";
  readonly warnings = new SheetWarnings();
  readonly #parts: CsvParts;
  width = 0;
  #read = 0;

  constructor(parts: CsvParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.file.name;
  }

  get progress(): number {
    return Math.min(1, this.#read / this.#parts.file.size);
  }

  async *batches(): AsyncGenerator<readonly RawRow[], void> {
    const { file, plan, encoding, decode, text, separator } = this.#parts;
    const records = new CsvRecords(separator, plan.limits);
    yield* read(records, text);
    const from = Math.min(file.size, encoding.markBytes + CHUNK_BYTES);
    this.#read = from;
    for (const chunk of file.chunks(from, file.size - from, CHUNK_BYTES)) {
      this.#read += chunk.length;
      yield* read(records, decode(chunk, records.row));
    }
    yield* read(records, decode(null, records.row));
    records.end();
    const last = records.take();
    if (last.length > 0) yield last;
  }

  close(): void {}
}

function* read(records: CsvRecords, text: string): Generator<readonly RawRow[], void> {
  records.feed(text);
  for (let isDone = false; !isDone;) {
    isDone = records.run();
    const rows = records.take();
    if (rows.length > 0) yield rows;
  }
}

function decoding(decode: Decode, label: string): CsvParts["decode"] {
  return (chunk, row) => {
    try {
      return decode(chunk);
    } catch {
      throw new SheetFault(
        "bad-encoding",
        `The file is not written in ${label}: save it as UTF-8, or say its encoding (csv.encoding)`,
        `near row ${row}`,
      );
    }
  };
}
