/** The payload of a job `import.xlsx.<type>`. By hand, `{ filePath }` will do. */
import type { StandardSchema } from "holdfast";

export interface ImportPayload {
  /** Inside the inbox: from there, or absolute. */
  readonly filePath: string;
  /** As its sender called it. */
  readonly fileName?: string | undefined;
  readonly sheetName?: string | undefined;
  readonly headerRow?: number | undefined;
  /** Of the content: a file that was changed since is not imported. */
  readonly sha256?: string | undefined;
  /** Reads, validates and counts; writes nothing. */
  readonly dryRun?: boolean | undefined;
}

const CHECKS: Readonly<Record<keyof ImportPayload, (value: unknown) => string | null>> = {
  filePath: (value) => (isText(value, 4_096) ? null : "must be the path of a file in the inbox"),
  fileName: (value) => (value === undefined || isText(value, 255) ? null : "must be a file's name"),
  sheetName: (value) =>
    value === undefined || isText(value, 255) ? null : "must be a sheet's name",
  headerRow: (value) =>
    value === undefined || (Number.isInteger(value) && (value as number) > 0)
      ? null
      : "must be the number of a row, from 1",
  sha256: (value) =>
    value === undefined || (typeof value === "string" && /^[0-9a-f]{64}$/.test(value))
      ? null
      : "must be a SHA-256 in hexadecimal",
  dryRun: (value) =>
    value === undefined || typeof value === "boolean" ? null : "must be true or false",
};

export const importPayload: StandardSchema<ImportPayload, ImportPayload> = {
  "~standard": {
    ...{ version: 1, vendor: "holdfast" },
    validate(given) {
      if (typeof given !== "object" || given === null || Array.isArray(given)) {
        return { issues: [{ message: "must be an object: { filePath }" }] };
      }
      const values = given as Readonly<Record<string, unknown>>;
      const issues = [
        ...Object.entries(CHECKS).map(([name, check]) => ({ name, message: check(values[name]) })),
        ...Object.keys(values)
          .filter((name) => !Object.hasOwn(CHECKS, name))
          .map((name) => ({ name, message: "is not known here" })),
      ].flatMap(({ name, message }) => (message === null ? [] : [{ message, path: [name] }]));
      return issues.length === 0 ? { value: given as ImportPayload } : { issues };
    },
  },
};

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= most;
}
