/** How a file is handed in, and what its sender gets for it. */
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
