/**
 * Which file is of which type: `config/import-manifest.json`. It is read again when it has changed; a change that
 * is broken is told, and what was there before goes on.
 */
import { readFileSync, statSync } from "node:fs";
import { InvalidOptionError, type Logger } from "holdfast";
import { checkFileName } from "../files/inbox.ts";
import { nearestName } from "../option-checks.ts";

export interface ManifestEntry {
  readonly type: string;
  readonly sheetName?: string | undefined;
  readonly headerRow?: number | undefined;
}

export type ManifestEntries = Readonly<Record<string, ManifestEntry>>;

const FIELDS = ["type", "sheetName", "headerRow"];
const MOST_ENTRIES = 10_000;

export interface ManifestOptions {
  /** The path of a file, or its content. */
  readonly source: string | ManifestEntries;
  readonly types: readonly string[];
  readonly logger: Logger;
}

export class Manifest {
  readonly #path: string | null;
  readonly #types: readonly string[];
  readonly #logger: Logger;
  #entries: ReadonlyMap<string, ManifestEntry>;
  #seen = "";
  #problem: string | null = null;

  /** Throws if the first reading fails: a process does not start with a broken manifest. */
  constructor({ source, types, logger }: ManifestOptions) {
    this.#types = types;
    this.#logger = logger;
    this.#path = typeof source === "string" ? source : null;
    if (this.#path !== null) this.#seen = markOf(this.#path);
    this.#entries = this.#read(source);
  }

  /** Null: the file is not in it. */
  find(fileName: string): ManifestEntry | null {
    this.#lookAgain();
    return this.#entries.get(fileName) ?? null;
  }

  get entries(): ManifestEntries {
    this.#lookAgain();
    return Object.fromEntries(this.#entries);
  }

  /** Why the newest content of the file is not used; null: it is. */
  get problem(): string | null {
    this.#lookAgain();
    return this.#problem;
  }

  /** A look at the file's date when it is asked: an idle process looks at nothing. */
  #lookAgain(): void {
    if (this.#path === null) return;
    const mark = markOf(this.#path);
    if (mark === this.#seen) return;
    this.#seen = mark;
    try {
      this.#entries = this.#read(this.#path);
      this.#problem = null;
      this.#logger.info("the import manifest was read again", { files: this.#entries.size });
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#logger.warn(
        `the import manifest was changed and cannot be used, so the one before goes on: ${this.#problem}`,
      );
    }
  }

  #read(source: string | ManifestEntries): ReadonlyMap<string, ManifestEntry> {
    const given = typeof source === "string" ? parse(source) : source;
    return entriesOf(given, this.#types);
  }
}

function markOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "none";
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidOptionError(`the manifest ${path} cannot be read: ${code ?? "unknown"}`, {
      cause: error,
    });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidOptionError(`the manifest ${path} is not JSON: ${(error as Error).message}`);
  }
}

function entriesOf(given: unknown, types: readonly string[]): ReadonlyMap<string, ManifestEntry> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(
      'a manifest is an object: { "Accounts-Payable.xlsx": { "type": "ap", "sheetName": "AP Data" } }',
    );
  }
  const entries = Object.entries(given);
  if (entries.length > MOST_ENTRIES) {
    throw new InvalidOptionError(`a manifest has at most ${MOST_ENTRIES} files`);
  }
  return new Map(entries.map(([name, entry]) => [name, entryOf(name, entry, types)]));
}

function entryOf(name: string, entry: unknown, types: readonly string[]): ManifestEntry {
  const at = `"${name.slice(0, 100)}" in the manifest`;
  try {
    checkFileName(name);
  } catch (error) {
    throw new InvalidOptionError(`${at}: ${(error as Error).message}`);
  }
  if (typeof entry !== "object" || entry === null) {
    throw new InvalidOptionError(`${at} must be an object: { "type": "ap" }`);
  }
  const { type, sheetName, headerRow } = entry as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    const near = nearestName(unknown, FIELDS);
    throw new InvalidOptionError(
      `${at} has no field "${unknown}"` + (near === null ? "" : `: did you mean "${near}"?`),
    );
  }
  if (typeof type !== "string" || !types.includes(type)) {
    throw new InvalidOptionError(
      `${at} has the type ${JSON.stringify(type)?.slice(0, 60)}, which is none of ${types.join(", ")}`,
    );
  }
  if (sheetName !== undefined && (typeof sheetName !== "string" || sheetName === "")) {
    throw new InvalidOptionError(`${at}: sheetName is the name of a sheet`);
  }
  if (headerRow !== undefined && !(Number.isInteger(headerRow) && (headerRow as number) > 0)) {
    throw new InvalidOptionError(`${at}: headerRow is the number of a row, from 1`);
  }
  return {
    type,
    ...(sheetName !== undefined && { sheetName }),
    ...(headerRow !== undefined && { headerRow: headerRow as number }),
  };
}
