/** Where spreadsheets come from: a folder, and the manifest that says what they are. */
import { fileURLToPath } from "node:url";

export interface ImportSettings {
  /** Workers on other machines need the same folder, shared. */
  readonly inbox: string;
  readonly manifest: string;
}

/** Beside `src` and beside `dist` alike. */
const MANIFEST = new URL("../../config/import-manifest.json", import.meta.url);

export function readImports(env: Readonly<Record<string, string | undefined>>): ImportSettings {
  return {
    inbox: env["IMPORT_INBOX"]?.trim() || "inbox",
    manifest: env["IMPORT_MANIFEST"]?.trim() || fileURLToPath(MANIFEST),
  };
}
