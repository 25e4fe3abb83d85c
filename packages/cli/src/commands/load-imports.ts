/** Imports, by their shape: a package of its own, which may not be installed. */
import type { Holdfast } from "holdfast";
import { CliError, ExitCode } from "../exit-code.ts";

export interface RowError {
  readonly row: number;
  readonly reason: string;
}

export interface Summary {
  readonly type: string;
  readonly file: string;
  readonly dryRun: boolean;
  readonly totalRows: number;
  readonly inserted: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly RowError[];
  readonly errorsLeftOut: number;
  readonly replaced: number;
  readonly warnings: readonly RowError[];
}

interface Choice {
  readonly type?: string;
  readonly sheetName?: string;
  readonly headerRow?: number;
}

interface Watching {
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number, rows: number) => void;
}

export interface ImportsLike {
  readonly types: readonly string[];
  readonly queue: string;
  check(path: string, options: Choice & Watching): Promise<Summary>;
  submitFile(
    path: string,
    options: Choice,
  ): Promise<{ readonly id: string; readonly jobType: string }>;
  close(): Promise<void>;
}

export interface ImportsModule {
  readonly importTypes: Readonly<
    Record<string, (options: { readonly target: unknown }) => unknown>
  >;
  emptyTarget(): unknown;
  importsOf(hf: Holdfast): ImportsLike | null;
  checkImport(path: string, definition: unknown, options: Choice & Watching): Promise<Summary>;
}

export const IMPORTS = "@holdfast/imports";

export async function loadImports(): Promise<ImportsModule> {
  try {
    return (await import(IMPORTS)) as ImportsModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(
      ExitCode.failed,
      `this needs the package ${IMPORTS}: npm install ${IMPORTS}`,
    );
  }
}

/** The routes of imports, where the module of the jobs has opened some. */
export async function importMounts(hf: Holdfast): Promise<readonly unknown[]> {
  const imports = (hf as unknown as { readonly [key: symbol]: unknown })[
    Symbol.for("holdfast.imports")
  ];
  if (imports === undefined) return [];
  const entry = `${IMPORTS}/server`;
  const { importsMount } = (await import(entry)) as { importsMount(imports: unknown): unknown };
  return [importsMount(imports)];
}
