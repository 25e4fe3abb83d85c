/** What `openImports` takes, checked and completed. */
import { InvalidOptionError } from "holdfast";
import { BaseImportHandler } from "./base-import-handler.ts";
import { isImportDefinition, type ImportDefinition } from "./define-import.ts";
import type { ManifestEntries } from "./manifest/manifest.ts";
import { checkOptions, checkText, checkWhole } from "./option-checks.ts";
import type { ReadLimits } from "./read/sheet.ts";

export interface ImportsOptions {
  /** The folder that files are imported from. Workers on other machines need the same one, shared. */
  readonly inbox: string;
  /** What can be imported: made by `defineImport` or `importTypes`, or instances of `BaseImportHandler`. */
  readonly types: readonly (ImportDefinition | { readonly definition: ImportDefinition })[];
  /** Which file is of which type: a path such as `config/import-manifest.json`, or its content. */
  readonly manifest?: string | ManifestEntries | undefined;
  /** Where import jobs wait. Default `imports`. */
  readonly queue?: string | undefined;
  /** Of a file. Default 10 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Of the reader: rows, columns, characters of a cell, bytes unpacked. */
  readonly limits?: Partial<Omit<ReadLimits, "fileBytes">> | undefined;
  /** Rows in a transaction. Default 100. */
  readonly batchSize?: number | undefined;
  /** How many failed rows an import keeps for its error file; all are counted. Default 10,000. */
  readonly maxErrors?: number | undefined;
  /** How long the file of an upload that did not succeed is kept. Default a week. */
  readonly keepUploadsMs?: number | undefined;
}

export interface CheckedOptions {
  readonly inbox: string;
  readonly definitions: readonly ImportDefinition[];
  readonly manifest: string | ManifestEntries;
  readonly queue: string;
  readonly maxFileBytes: number;
  readonly limits: Partial<ReadLimits>;
  readonly batchSize: number;
  readonly maxErrors: number;
  readonly keepUploadsMs: number;
}

const OPTIONS = [
  ...["inbox", "types", "manifest", "queue", "maxFileBytes", "limits", "batchSize", "maxErrors"],
  "keepUploadsMs",
];
const LIMITS = ["unpackedBytes", "rows", "columns", "cellCharacters", "stringBytes"];
const DAY_MS = 86_400_000;

export function checkImportsOptions(options: ImportsOptions): CheckedOptions {
  checkOptions("openImports", options, OPTIONS);
  const { inbox, types, manifest = {}, queue = "imports", limits = {} } = options;
  checkText("inbox", inbox);
  checkText("queue", queue);
  checkOptions("limits", limits, LIMITS);
  for (const [name, limit] of Object.entries(limits)) {
    checkWhole(`limits.${name}`, limit, { min: 1, max: 2 ** 40 });
  }
  if (!Array.isArray(types) || types.length === 0) {
    throw new InvalidOptionError(
      "types is a list of what can be imported: [importTypes.customers({ target })]",
    );
  }
  const definitions = types.map(definitionOf);
  const names = definitions.map(({ type }) => type);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new InvalidOptionError(`there are two import types ${twice}`);
  const maxFileBytes = checkWhole("maxFileBytes", options.maxFileBytes ?? 10 * 1024 * 1024, {
    ...{ min: 1, max: 2 ** 32 },
  });
  return {
    ...{ inbox, definitions, manifest, queue, maxFileBytes },
    limits: { ...limits, fileBytes: maxFileBytes },
    batchSize: checkWhole("batchSize", options.batchSize ?? 100, { min: 1, max: 10_000 }),
    maxErrors: checkWhole("maxErrors", options.maxErrors ?? 10_000, { min: 0, max: 100_000 }),
    keepUploadsMs: checkWhole("keepUploadsMs", options.keepUploadsMs ?? 7 * DAY_MS, {
      ...{ min: 60_000, max: 3_650 * DAY_MS },
    }),
  };
}

function definitionOf(given: unknown): ImportDefinition {
  if (isImportDefinition(given)) return given;
  const { definition } = Object(given) as { readonly definition?: unknown };
  if (given instanceof BaseImportHandler || isImportDefinition(definition)) {
    return definition as ImportDefinition;
  }
  throw new InvalidOptionError(
    "a type is made by defineImport or importTypes, or is an instance of BaseImportHandler",
  );
}
