/**
 * For those who have handlers written as classes: `importType`, `schema` and `getUpsertFilter` as they are, and
 * a target. `openImports` takes an instance wherever it takes an import type.
 */
import { defineImport, type ImportDefinition, type ImportJobOptions } from "./define-import.ts";
import { checkOptions } from "./option-checks.ts";
import type { RowSchema } from "./schema/row-schema.ts";
import type { ImportTarget } from "./targets/target.ts";

export interface HandlerOptions {
  readonly target: ImportTarget;
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly job?: ImportJobOptions | undefined;
}

export abstract class BaseImportHandler<T> {
  readonly #options: HandlerOptions;
  #definition: ImportDefinition | null = null;

  constructor(options: HandlerOptions) {
    checkOptions(new.target.name, options, ["target", "aliases", "job"]);
    this.#options = options;
  }

  protected abstract readonly importType: string;
  protected abstract readonly schema: RowSchema<T>;

  /** What a row is known by. */
  protected abstract getUpsertFilter(row: T): object;

  /** The same as an import type. */
  get definition(): ImportDefinition {
    this.#definition ??= defineImport<T>({
      ...{ type: this.importType, schema: this.schema, ...this.#options },
      key: (row) => this.getUpsertFilter(row),
    });
    return this.#definition;
  }
}
