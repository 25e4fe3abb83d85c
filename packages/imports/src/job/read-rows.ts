/** The rows of a sheet as a target takes them: mapped, judged by the schema, with their keys. */
import type { ImportDefinition } from "../define-import.ts";
import { rowOf, type Columns } from "../columns.ts";
import type { SheetRow } from "../read/sheet.ts";
import { cleanReason, judgeRow, type Judged } from "../schema/row-schema.ts";
import type { KeyValue, RowError, RowKey, TargetRow } from "../targets/target.ts";

export type ReadRow =
  | { readonly row: TargetRow; readonly error?: undefined }
  | { readonly error: RowError; readonly row?: undefined };

/** A promise only if the schema needs one. */
export function readRow(
  definition: ImportDefinition,
  columns: Columns,
  { row, cells }: SheetRow,
): ReadRow | Promise<ReadRow> {
  let judged: Judged<unknown> | Promise<Judged<unknown>>;
  try {
    judged = judgeRow(definition.schema, rowOf(cells, columns));
  } catch (error) {
    return failed(row, `the schema threw: ${messageOf(error)}`);
  }
  if (!("then" in judged)) return keyed(definition, row, judged);
  return judged.then(
    (late) => keyed(definition, row, late),
    (error: unknown) => failed(row, `the schema threw: ${messageOf(error)}`),
  );
}

function keyed(definition: ImportDefinition, row: number, judged: Judged<unknown>): ReadRow {
  if (judged.reason !== undefined) return failed(row, judged.reason);
  const values = Object(judged.row) as Readonly<Record<string, unknown>>;
  let given: object;
  try {
    given = Object(definition.keyOf(values)) as object;
  } catch (error) {
    return failed(row, `its key cannot be told: ${messageOf(error)}`);
  }
  const key: Record<string, KeyValue> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === "") {
      return failed(row, `${name} is empty, and rows are known by it`);
    }
    if (!isKeyValue(value)) return failed(row, `${name} is no text, number or date`);
    key[name] = value;
  }
  if (Object.keys(key).length === 0) return failed(row, "it has no key");
  return { row: { row, key: key as RowKey, values } };
}

function isKeyValue(value: unknown): value is KeyValue {
  if (typeof value === "number") return Number.isFinite(value);
  if (value instanceof Date) return Number.isFinite(value.getTime());
  return ["string", "boolean", "bigint"].includes(typeof value);
}

function failed(row: number, reason: string): ReadRow {
  return { error: { row, reason: cleanReason(reason) } };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
