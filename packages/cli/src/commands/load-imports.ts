/** Imports, by their shape: a package of its own, which may not be installed. */
import type { Holdfast } from "holdfast";
import { loadPart } from "./load-part.ts";

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

export function loadImports(): Promise<ImportsModule> {
  return loadPart<ImportsModule>(IMPORTS);
}

/** The routes of imports, where the module of the jobs has opened some. */
export async function importMounts(hf: Holdfast): Promise<readonly unknown[]> {
  const imports = (hf as unknown as { readonly [key: symbol]: unknown })[
    Symbol.for("holdfast.imports")
  ];
  if (imports === undefined) return [];
  type Module = { importsMount(imports: unknown): unknown };
  const { importsMount } = await loadPart<Module>(`${IMPORTS}/server`);
  return [importsMount(imports)];
}
