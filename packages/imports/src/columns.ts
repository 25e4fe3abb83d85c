/** From the headers of a sheet to the fields of a row: "Invoice No." is `invoiceNumber` if an alias says so. */
import { ImportRejectedError } from "./errors.ts";
import { nearestName } from "./option-checks.ts";
import type { CellValue } from "./read/sheet.ts";
import type { SchemaFields } from "./schema/schema-fields.ts";

export interface ColumnRules {
  /** Null: the schema does not tell its fields. */
  readonly fields: SchemaFields | null;
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** The fields of the key, as far as they are known before a row is. */
  readonly keyFields: readonly string[];
}

export interface Columns {
  /** By their order in the sheet; null: the column is left out. */
  readonly fields: readonly (string | null)[];
  /** Headers of the columns that are left out. */
  readonly ignored: readonly string[];
}

/** They would reach a prototype. */
const NEVER = new Set(["__proto__", "constructor", "prototype"]);

export function columnsOf(headers: readonly string[], rules: ColumnRules): Columns {
  const known = knownHeaders(rules);
  const taken = new Map<string, string>();
  const ignored: string[] = [];
  const fields = headers.map((header) => {
    const field = known.get(plain(header)) ?? otherField(header, rules.fields);
    if (field === null) {
      if (header !== "") ignored.push(header);
      return null;
    }
    const before = taken.get(field);
    if (before !== undefined) {
      throw new ImportRejectedError(
        "doubled-header",
        `the columns "${before}" and "${header}" both stand for ${field}: remove one, or rename it`,
        header,
      );
    }
    taken.set(field, header);
    return field;
  });
  refuseMissing(rules, [...taken.keys()], headers);
  return { fields, ignored };
}

/** Empty cells are left out: a schema takes them for absent, and an update leaves what is there. */
export function rowOf(cells: readonly CellValue[], { fields }: Columns): Record<string, CellValue> {
  const row: Record<string, CellValue> = {};
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at];
    const cell = cells[at];
    if (field == null || cell == null) continue;
    const value = typeof cell === "string" ? cell.trim() : cell;
    if (value !== "") row[field] = value;
  }
  return row;
}

function knownHeaders({ fields, aliases }: ColumnRules): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const [field, others] of Object.entries(aliases)) {
    for (const other of others) known.set(plain(other), field);
  }
  for (const field of [...Object.keys(aliases), ...(fields?.names ?? [])]) {
    known.set(plain(field), field);
  }
  return known;
}

function otherField(header: string, fields: SchemaFields | null): string | null {
  if (fields !== null && !fields.takesOthers) return null;
  const field = /^[A-Za-z_]\w*$/.test(header) ? header : camelCase(header);
  return field === "" || NEVER.has(field) ? null : field;
}

function refuseMissing(
  { fields, keyFields, aliases }: ColumnRules,
  there: readonly string[],
  headers: readonly string[],
): void {
  const isField = (name: string) => fields === null || fields.names.includes(name);
  for (const name of keyFields) {
    if (there.includes(name) || !isField(name)) continue;
    const near = nearestName(name, headers.filter(Boolean));
    const others = aliases[name] ?? [];
    const called = [name, ...others].slice(0, 4).map((one) => `"${one}"`);
    throw new ImportRejectedError(
      "missing-header",
      `no column is called ${called.join(" or ")}, and rows are known by it` +
        (near === null ? "" : `: is it "${near}"? Rename it, or add an alias`),
      name,
    );
  }
}

/** "Invoice No." and "invoice_no" are the same. Letters of any script count. */
function plain(header: string): string {
  return header
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}#]+/gu, "");
}

function camelCase(header: string): string {
  const words = header.normalize("NFKC").match(/[\p{L}\p{N}]+/gu) ?? [];
  const joined = words
    .map((word, at) =>
      at === 0 ? word.toLowerCase() : word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase(),
    )
    .join("");
  return /^\d/.test(joined) ? `_${joined}` : joined.slice(0, 120);
}
