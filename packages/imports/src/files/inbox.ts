/**
 * The folder that files are imported from. A name or a path from outside leads to a plain file in it, or to a
 * typed error: no other folder, no symbolic link, no other kind of file.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { ImportRejectedError } from "../errors.ts";

export const UPLOADS = ".uploads";
export const EXTENSIONS = [".xlsx", ".csv"];
const MOST_NAME_CHARS = 255;

/** The name of a file, and nothing else: for names that people and programs send. */
export function checkFileName(name: unknown): string {
  const isPlain =
    typeof name === "string" &&
    name.length > 0 &&
    name.length <= MOST_NAME_CHARS &&
    basename(name) === name &&
    !name.includes("..") &&
    !name.startsWith(".") &&
    // oxlint-disable-next-line no-control-regex -- they are what is refused
    !/[\\/:\u0000-\u001f\u007f]/.test(name);
  if (!isPlain) {
    throw new ImportRejectedError(
      "bad-name",
      "the name of a file has no folder, no control characters, no .. and no dot in front, and at most 255 characters",
    );
  }
  checkExtension(name);
  return name;
}

function checkExtension(name: string): void {
  if (EXTENSIONS.includes(extname(name).toLowerCase())) return;
  throw new ImportRejectedError(
    "wrong-extension",
    `only ${EXTENSIONS.join(" and ")} files are imported: save the sheet as one of them`,
    extname(name).slice(0, 20) || null,
  );
}

export interface FoundFile {
  /** Real, absolute. */
  readonly path: string;
  /** From the inbox: what a job keeps. */
  readonly inInbox: string;
  readonly bytes: number;
  readonly isUpload: boolean;
}

/** `inbox` is real already. A path that is not absolute is taken from the inbox, or from where the process stands. */
export async function findInInbox(inbox: string, given: string): Promise<FoundFile> {
  const path = placeOf(inbox, given);
  checkExtension(path);
  const found = await lstat(path).catch((error: unknown) => {
    if (isAbsence(error)) return null;
    throw error;
  });
  if (found === null) {
    throw new ImportRejectedError("missing-file", "there is no such file in the inbox");
  }
  if (found.isSymbolicLink() || (await realpath(path)) !== path) {
    throw new ImportRejectedError("symbolic-link", "symbolic links are not followed");
  }
  if (!found.isFile()) {
    throw new ImportRejectedError("missing-file", "this is no file");
  }
  const inInbox = relative(inbox, path);
  const isUpload = inInbox.startsWith(UPLOADS + sep);
  return { path, inInbox, bytes: found.size, isUpload };
}

/** Any other trouble is that of a disk or of a network in front of it: the file may be there the next time. */
export function isAbsence(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(String(code));
}

function placeOf(inbox: string, given: string): string {
  const places = isAbsolute(given) ? [resolve(given)] : [resolve(given), resolve(inbox, given)];
  // oxlint-disable-next-line no-control-regex -- the one that ends a path for the system
  const inside = /\u0000/.test(given)
    ? undefined
    : places.find((place) => place.startsWith(inbox + sep));
  if (inside !== undefined) return inside;
  throw new ImportRejectedError("outside-inbox", "files are imported from the inbox only");
}

/** SHA-256 of a file's content, in hexadecimal. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash, signal ? { signal } : {});
  return hash.digest("hex");
}

/** Does a file begin as its name says? The reader looks closer. */
export async function checkBeginning(path: string): Promise<void> {
  const file = await open(path, "r");
  let beginning: Buffer;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    beginning = buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
  const isZip = beginning.subarray(0, 4).equals(Buffer.from("PK\u0003\u0004"));
  const isWorkbook = extname(path).toLowerCase() === ".xlsx";
  if (isWorkbook ? isZip : !isZip && !isBinary(beginning)) return;
  const isOld = beginning.subarray(0, 4).equals(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]));
  throw new ImportRejectedError(
    "wrong-type",
    isOld
      ? "this is an old or an encrypted workbook: save it as .xlsx without a password"
      : `the content is not that of ${isWorkbook ? "an .xlsx" : "a .csv"} file`,
  );
}

/** A text in UTF-16 has zeros, and begins with a mark that says so. */
function isBinary(beginning: Buffer): boolean {
  const mark = beginning.subarray(0, 2).toString("hex");
  return mark !== "fffe" && mark !== "feff" && beginning.includes(0);
}

export function uploadsOf(inbox: string): string {
  return join(inbox, UPLOADS);
}
