/** A dry run here and now, of any file on this machine, without a job and without a Holdfast. */
import { checkFileName } from "./files/inbox.ts";
import type { ImportDefinition } from "./define-import.ts";
import type { ImportSummary } from "./job/import-summary.ts";
import { runImport } from "./job/run-import.ts";
import { checkOptions } from "./option-checks.ts";
import { openSheet } from "./read/open-sheet.ts";
import type { ReadLimits } from "./read/sheet.ts";

export interface CheckOptions {
  readonly sheetName?: string | undefined;
  readonly headerRow?: number | undefined;
  readonly limits?: Partial<ReadLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((share: number, rows: number) => void) | undefined;
}

const OPTIONS = ["sheetName", "headerRow", "limits", "signal", "onProgress"];

export function checkImport(
  path: string,
  definition: ImportDefinition,
  options: CheckOptions = {},
): Promise<ImportSummary> {
  checkOptions("checkImport", options, OPTIONS);
  const { sheetName, headerRow, limits, signal, onProgress } = options;
  const fileName = checkFileName(path.split(/[\\/]/).at(-1));
  return runImport({
    ...{ definition, path, fileName, sha256: "", job: "", fence: 0, openSheet, dryRun: true },
    read: {
      ...(limits && { limits }),
      ...(sheetName !== undefined && { sheet: sheetName }),
      ...(headerRow !== undefined && { headerRow }),
    },
    ...{ batchSize: 100, maxErrors: 10_000, progress: onProgress ?? (() => {}) },
    signal: signal ?? new AbortController().signal,
  });
}
