/** An import type: what a row is, by what it is known, and where it goes. */
import { InvalidOptionError, type JobOptions } from "holdfast";
import { checkOptions, checkText } from "./option-checks.ts";
import { isRowSchema, type RowSchema } from "./schema/row-schema.ts";
import { fieldsOf, type SchemaFields } from "./schema/schema-fields.ts";
import { isTarget, type ImportTarget } from "./targets/target.ts";

/** Field by field: `{ email: row.email }`. */
export type KeyOf<Row> = readonly (keyof Row & string)[] | ((row: Row) => object);

/** What of the job's contract a type may set. */
export type ImportJobOptions = Pick<
  JobOptions,
  "retry" | "timeoutMs" | "priority" | "maxCrashes" | "onOutage" | "tags" | "guidance" | "link"
>;

export interface ImportOptions<Row = Record<string, unknown>> {
  /** `"customers"`: jobs are of the type `import.xlsx.customers`. */
  readonly type: string;
  /** Any Standard Schema, or a Joi schema of any version. */
  readonly schema: RowSchema<Row>;
  /** What a row is known by: names of fields, or a function that gives them with their values. */
  readonly key: KeyOf<Row>;
  readonly target: ImportTarget;
  /** Other headers of a field: `{ invoiceNumber: ["Invoice No.", "Inv #"] }`. */
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Of the contract of its jobs: `retry`, `timeoutMs`, `priority`, … */
  readonly job?: ImportJobOptions | undefined;
}

/** A checked import type. */
export interface ImportDefinition {
  readonly type: string;
  readonly jobType: string;
  readonly schema: RowSchema;
  readonly target: ImportTarget;
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  readonly fields: SchemaFields | null;
  /** As far as they are known before a row is. */
  readonly keyFields: readonly string[];
  readonly job: ImportJobOptions;
  keyOf(row: unknown): object;
}

const OPTIONS = ["type", "schema", "key", "target", "aliases", "job"];
const JOB_OPTIONS = [
  ...["retry", "timeoutMs", "priority", "maxCrashes", "onOutage", "tags", "guidance", "link"],
];
export const JOB_TYPE_PREFIX = "import.xlsx.";

export function defineImport<Row = Record<string, unknown>>(
  options: ImportOptions<Row>,
): ImportDefinition {
  checkOptions("defineImport", options, OPTIONS);
  const { type, schema, key, target, aliases = {}, job = {} } = options;
  if (typeof type !== "string" || !/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/.test(type)) {
    throw new InvalidOptionError(
      'type must be a name of 1 to 100 letters, digits and _ . : - such as "customers"',
    );
  }
  if (!isRowSchema(schema)) {
    throw new InvalidOptionError(
      "schema must be a Standard Schema (of zod, valibot, arktype, Joi 18, …) or have Joi's validate",
    );
  }
  if (!isTarget(target)) {
    throw new InvalidOptionError(
      "target says where rows go: sqliteTarget, postgresTarget or mongodbTarget makes one",
    );
  }
  checkAliases(aliases);
  checkOptions("job", job, JOB_OPTIONS);
  const keyOf = checkKey(key as KeyOf<Record<string, unknown>>);
  return Object.freeze({
    ...{ type, jobType: JOB_TYPE_PREFIX + type, schema, target, aliases, job, keyOf },
    fields: fieldsOf(schema),
    keyFields: keyFieldsOf(key as KeyOf<Record<string, unknown>>),
  });
}

export function isImportDefinition(value: unknown): value is ImportDefinition {
  const { jobType, keyOf, target } = Object(value) as Partial<ImportDefinition>;
  return typeof jobType === "string" && typeof keyOf === "function" && isTarget(target);
}

function checkKey(key: KeyOf<Record<string, unknown>>): (row: unknown) => object {
  if (typeof key === "function") return (row) => key(row as Record<string, unknown>);
  const isNames =
    Array.isArray(key) && key.length > 0 && key.every((one) => typeof one === "string");
  if (isNames) {
    const names = [...(key as readonly string[])];
    return (row) =>
      Object.fromEntries(names.map((name) => [name, (row as Record<string, unknown>)[name]]));
  }
  throw new InvalidOptionError(
    'key names the fields a row is known by: ["email"], or (row) => ({ email: row.email })',
  );
}

/** A function that only picks fields tells their names for an empty row, too. */
function keyFieldsOf(key: KeyOf<Record<string, unknown>>): readonly string[] {
  if (typeof key !== "function") return key;
  try {
    return Object.keys(Object(key({})) as object);
  } catch {
    return [];
  }
}

function checkAliases(aliases: unknown): void {
  if (typeof aliases !== "object" || aliases === null || Array.isArray(aliases)) {
    throw new InvalidOptionError('aliases is an object: { invoiceNumber: ["Invoice No."] }');
  }
  for (const [field, others] of Object.entries(aliases)) {
    if (!Array.isArray(others)) {
      throw new InvalidOptionError(`aliases.${field} is a list of headers: ["Invoice No."]`);
    }
    for (const other of others as unknown[]) checkText(`a header in aliases.${field}`, other);
  }
}
