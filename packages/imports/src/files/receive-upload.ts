/**
 * A multipart body, streamed to disk under a name of ours while it is counted and hashed. Whatever goes wrong,
 * also a connection that breaks, leaves no file.
 */
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { ImportRejectedError } from "../errors.ts";
import { checkFileName } from "./inbox.ts";

export interface ReceivedUpload {
  /** Of the sender. */
  readonly fileName: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** What came beside the file. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface UploadRequest {
  readonly body: Readable;
  readonly contentType: string;
  /** The folder, on the same disk as the inbox. */
  readonly folder: string;
  readonly maxBytes: number;
}

/** A file that is not complete yet has this behind its name. */
export const PART = ".part";
const LIMITS = { files: 1, fields: 10, fieldSize: 8_192, parts: 12, headerPairs: 50 };
const TYPES: Readonly<Record<string, readonly string[]>> = {
  ".xlsx": [
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/octet-stream",
    "application/zip",
  ],
  ".csv": [
    "text/csv",
    "application/csv",
    "text/plain",
    "application/vnd.ms-excel",
    "application/octet-stream",
  ],
};

interface Part {
  readonly fileName: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

export async function receiveUpload(request: UploadRequest): Promise<ReceivedUpload> {
  const { body, contentType, folder, maxBytes } = request;
  const parser = parserOf(contentType, maxBytes);
  const part = join(folder, `${randomUUID()}${PART}`);
  const fields = new Map<string, string>();
  let storing: Promise<Part> | null = null;
  let open: BusboyFileStream | null = null;
  let refused: Error | null = null;
  const refuse = (error: Error) => {
    refused ??= error;
    parser.destroy(error);
  };
  parser.on("file", (field, stream, name, _encoding, mimeType) => {
    // Its troubles are those of the whole, which is awaited below.
    stream.on("error", () => {});
    try {
      if (field !== "file" || storing) throw bad('a file is sent in one field called "file"');
      open = stream;
      storing = store(stream, { name, mimeType, part, maxBytes });
      storing.catch(refuse);
    } catch (error) {
      stream.resume();
      refuse(error as Error);
    }
  });
  parser.on("field", (name, value) => void fields.set(name, value));
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
    parser.on(limit, () => refuse(bad("there is too much beside the file")));
  }
  try {
    await pipeline(body, parser);
    const stored = await (storing as Promise<Part> | null);
    if (refused) throw refused as Error;
    if (stored === null) throw bad('there is no file in the field "file"');
    const path = part.slice(0, -PART.length) + extname(stored.fileName).toLowerCase();
    await rename(part, path);
    return { ...stored, path, fields };
  } catch (error) {
    // The parser does not end the file that it was in the middle of.
    (open as BusboyFileStream | null)?.destroy(error as Error);
    await (storing as Promise<Part> | null)?.catch(() => {});
    await rm(part, { force: true });
    throw refused ?? (error instanceof ImportRejectedError ? error : broken(error));
  }
}

function parserOf(contentType: string, maxBytes: number) {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) {
    throw bad("send the file as multipart/form-data, in the field file");
  }
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { ...LIMITS, fileSize: maxBytes },
      // A name with folders in it is refused, not cut.
      preservePath: true,
    });
  } catch {
    throw bad("this is no multipart/form-data: its boundary is missing");
  }
}

async function store(
  stream: BusboyFileStream,
  about: {
    readonly name: string;
    readonly mimeType: string;
    readonly part: string;
    readonly maxBytes: number;
  },
): Promise<Part> {
  const { part, maxBytes } = about;
  const fileName = checkFileName(about.name);
  checkType(fileName, about.mimeType);
  const hash = createHash("sha256");
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(stream, count, createWriteStream(part, { flags: "wx", mode: 0o600 }));
  if (stream.truncated) {
    throw new ImportRejectedError("too-large", `a file has at most ${maxBytes} bytes`);
  }
  if (bytes === 0) throw bad("the file is empty");
  return { fileName, path: part, sha256: hash.digest("hex"), bytes };
}

function checkType(fileName: string, mimeType: string): void {
  const [media = ""] = mimeType.toLowerCase().split(";");
  if (TYPES[extname(fileName).toLowerCase()]?.includes(media.trim()) === true) return;
  throw new ImportRejectedError(
    "wrong-type",
    `${fileName} is said to be ${media.slice(0, 80) || "of no type"}, which is no spreadsheet`,
  );
}

function bad(message: string): ImportRejectedError {
  return new ImportRejectedError("multipart", message);
}

function broken(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return bad(`the upload could not be read to its end: ${message.slice(0, 200)}`);
}
