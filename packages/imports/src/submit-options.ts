/** How a file is handed in, and what its sender gets for it. */
import { ImportRejectedError } from "./errors.ts";

export interface SubmitOptions {
  /** Reads, validates and counts; writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Instead of what the manifest says. */
  readonly type?: string | undefined;
  readonly sheetName?: string | undefined;
  readonly headerRow?: number | undefined;
}

export interface SubmitFileOptions extends SubmitOptions {
  /** As the manifest knows it. Default: the file's own name. */
  readonly fileName?: string | undefined;
}

export interface ImportReceipt {
  readonly id: string;
  /** `import.xlsx.customers`. */
  readonly jobType: string;
  readonly type: string;
  readonly file: string;
  readonly dryRun: boolean;
}

/** The names of `SubmitOptions`. */
export const SUBMIT = ["dryRun", "type", "sheetName", "headerRow"];

/** What is said beside an upload. */
export function readFlag(fields: ReadonlyMap<string, string>): boolean {
  const unknown = [...fields.keys()].find((name) => name !== "dryRun");
  const flag = fields.get("dryRun") ?? "false";
  if (unknown === undefined && (flag === "true" || flag === "false")) return flag === "true";
  throw new ImportRejectedError(
    "multipart",
    "beside the file there may be a field dryRun, which is true or false, and no other",
  );
}
