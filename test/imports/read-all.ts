/** A file read to its end in this thread, as tests want it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkReadOptions } from "../../packages/imports/src/read/read-options.ts";
import { SheetReader } from "../../packages/imports/src/read/sheet-reader.ts";
import { SheetFault } from "../../packages/imports/src/read/sheet-fault.ts";
import type {
  ReadOptions,
  SheetErrorCode,
  SheetRow,
  SheetWarning,
} from "../../packages/imports/src/read/sheet.ts";

export interface ReadSheet {
  readonly format: "xlsx" | "csv";
  readonly name: string;
  readonly columns: readonly string[];
  readonly headerRow: number;
  readonly rows: readonly SheetRow[];
  readonly warnings: readonly SheetWarning[];
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-sheets-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A file of this content; its name is no help to a reader. */
export function fileOf(content: Buffer | string, name?: string): string {
  files += 1;
  const path = join(folder, name ?? `${files}.upload`);
  writeFileSync(path, content);
  return path;
}

export async function readAll(
  path: string,
  options: ReadOptions = {},
  after = 0,
): Promise<ReadSheet> {
  const reader = await SheetReader.open(path, checkReadOptions(options));
  try {
    const rows: SheetRow[] = [];
    for await (const batch of reader.batches(after)) rows.push(...batch);
    const { format, name, header, warnings } = reader;
    return {
      ...{ format, name, rows, columns: header.columns, headerRow: header.row },
      warnings: warnings.all,
    };
  } finally {
    reader.close();
  }
}

export function readContent(
  content: Buffer | string,
  options: ReadOptions = {},
): Promise<ReadSheet> {
  return readAll(fileOf(content), options);
}

/** Why a content is refused: its reason and place; what is not refused, or fails otherwise, throws. */
export async function refusalOf(
  content: Buffer | string,
  options: ReadOptions = {},
): Promise<{ reason: SheetErrorCode; place: string | null; message: string }> {
  try {
    await readContent(content, options);
  } catch (error) {
    if (!(error instanceof SheetFault)) throw error;
    const { reason, place, message } = error;
    return { reason, place, message };
  }
  throw new Error("it was not refused");
}
