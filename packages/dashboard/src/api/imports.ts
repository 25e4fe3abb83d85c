/** Spreadsheets: only where the server has imports mounted. */
import type { ImportReceipt, ImportView, ManifestEntries, RowError } from "@holdfast/imports";
import { ask, get, part, type Query } from "./ask.ts";
import type { Page, Sent } from "./types.ts";

export type Import = Sent<ImportView>;

export interface ImportTypes {
  readonly types: readonly string[];
  readonly manifest: ManifestEntries;
  /** What is wrong with the manifest, since it was read last. */
  readonly problem: string | null;
}

export interface FailedRows {
  readonly items: readonly RowError[];
  readonly total: number;
}

export const imports = {
  types: (signal?: AbortSignal) => get<ImportTypes>("imports/types", {}, signal),
  list: (query: Query, signal?: AbortSignal) =>
    get<Page<Import>>("imports", { errors: false, ...query }, signal),
  get: (id: string, signal?: AbortSignal) => get<Import>(`imports/${part(id)}`, {}, signal),
  rows: (id: string, signal?: AbortSignal) =>
    get<FailedRows>(`imports/${part(id)}/rows`, { limit: 200 }, signal),
  upload(file: File, { isDryRun }: { readonly isDryRun: boolean }) {
    const form = new FormData();
    form.set("dryRun", String(isDryRun));
    form.set("file", file);
    return ask<Omit<ImportReceipt, "id"> & { readonly jobId: string }>(
      "POST",
      "imports/xlsx/upload",
      { form },
    );
  },
};
