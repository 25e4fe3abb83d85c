/** Imports of one Holdfast: files in, jobs out, and a look at what came of them. */
import { randomUUID } from "node:crypto";
import { copyFile, mkdir, realpath, rm, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { DuplicateJobError, StoreUnavailableError, type Holdfast } from "holdfast";
import { columnsOf } from "./columns.ts";
import { JOB_TYPE_PREFIX, type ImportDefinition } from "./define-import.ts";
import { errorCsv } from "./error-csv.ts";
import { ImportNotFoundError, ImportRejectedError } from "./errors.ts";
import { checkBeginning, checkFileName, findInInbox, hashFile, uploadsOf } from "./files/inbox.ts";
import { sharedInbox } from "./files/inbox-mark.ts";
import { receiveUpload } from "./files/receive-upload.ts";
import { sweepUploads, uploadTag } from "./files/uploads.ts";
import { importHandler } from "./job/import-handler.ts";
import { importPayload, type ImportPayload } from "./job/import-payload.ts";
import type { ImportSummary } from "./job/import-summary.ts";
import { runImport, type OpenSheet } from "./job/run-import.ts";
import {
  checkImportsOptions,
  type CheckedOptions,
  type ImportsOptions,
} from "./imports-options.ts";
import { viewOf, type ImportsPage, type ImportView } from "./import-view.ts";
import { Manifest, type ManifestEntry } from "./manifest/manifest.ts";
import { checkOptions, nearestName } from "./option-checks.ts";
import {
  readFlag,
  SUBMIT,
  type ImportReceipt,
  type SubmitFileOptions,
  type SubmitOptions,
} from "./submit-options.ts";
import type { RowError } from "./targets/target.ts";
import { Turns } from "./turns.ts";

const SWEEP_MS = 3_600_000;
/** Each look opens a file in a thread of its own. */
const LOOKS_AT_ONCE = 2;
/**
 * A file whose turn does not come in this time has a job without a look: the job repeats every check. Its sender would
 * be told otherwise, after half a minute, to try again with a file that nothing is wrong with.
 */
const LOOK_WITHIN_MS = 8_000;
const OWN = Symbol.for("holdfast.imports");

export class Imports {
  readonly #hf: Holdfast;
  readonly #options: CheckedOptions;
  readonly #inbox: string;
  readonly #openSheet: OpenSheet;
  readonly #definitions: ReadonlyMap<string, ImportDefinition>;
  readonly #looks = new Turns(LOOKS_AT_ONCE);
  readonly #toRemove = new Map<string, string>();
  readonly #stops: (() => void)[] = [];
  readonly manifest: Manifest;

  /** @internal `openImports` makes one. */
  private constructor(
    hf: Holdfast,
    options: CheckedOptions,
    at: { inbox: string; openSheet: OpenSheet },
  ) {
    this.#hf = hf;
    this.#options = options;
    this.#inbox = at.inbox;
    this.#openSheet = at.openSheet;
    this.#definitions = new Map(options.definitions.map((one) => [one.type, one]));
    this.manifest = new Manifest({
      ...{ source: options.manifest, types: [...this.#definitions.keys()] },
      logger: hf.tools.logger,
    });
  }

  /** @internal */
  static async open(hf: Holdfast, given: ImportsOptions, openSheet: OpenSheet): Promise<Imports> {
    const options = checkImportsOptions(given);
    await mkdir(options.inbox, { recursive: true });
    // Uploads are for this user's eyes; the inbox itself is as the system makes folders.
    await mkdir(uploadsOf(options.inbox), { recursive: true, mode: 0o700 });
    const inbox = await realpath(options.inbox);
    const imports = new Imports(hf, options, { inbox, openSheet });
    await imports.#begin();
    Object.defineProperty(hf, OWN, { value: imports, configurable: true });
    return imports;
  }

  get types(): readonly string[] {
    return [...this.#definitions.keys()];
  }

  get queue(): string {
    return this.#options.queue;
  }

  /** Imports a file that lies in the inbox; the manifest says its type. */
  async submit(fileName: string, options: SubmitOptions = {}): Promise<ImportReceipt> {
    checkOptions("imports.submit", options, SUBMIT);
    const name = checkFileName(fileName);
    const entry = this.#entryOf(name, options);
    const found = await findInInbox(this.#inbox, join(this.#inbox, name));
    if (found.bytes > this.#options.maxFileBytes) throw this.#tooLarge();
    await this.#look(found.path, entry);
    const sha256 = await hashFile(found.path);
    const file = { fileName: name, path: found.path, sha256 };
    return this.#enqueue(file, entry, options.dryRun === true, []);
  }

  /** Imports a file from elsewhere on this machine: it is copied. */
  async submitFile(path: string, options: SubmitFileOptions = {}): Promise<ImportReceipt> {
    checkOptions("imports.submitFile", options, [...SUBMIT, "fileName"]);
    const fileName = checkFileName(options.fileName ?? path.split(/[\\/]/).at(-1));
    const entry = this.#entryOf(fileName, options);
    const to = join(uploadsOf(this.#inbox), `${randomUUID()}${extname(fileName).toLowerCase()}`);
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isFile()) {
      throw new ImportRejectedError("missing-file", `there is no file ${path}`);
    }
    if (found.size > this.#options.maxFileBytes) throw this.#tooLarge();
    await copyFile(path, to);
    const dryRun = options.dryRun === true;
    return this.#take({ fileName, path: to, sha256: await hashFile(to) }, () => [entry, dryRun]);
  }

  /** Imports a file that comes as multipart/form-data, in the field `file`; a field `dryRun` may be `true`. */
  async receive(body: Readable, contentType: string): Promise<ImportReceipt> {
    const { maxFileBytes: maxBytes } = this.#options;
    const folder = uploadsOf(this.#inbox);
    const upload = await receiveUpload({ body, contentType, folder, maxBytes });
    return this.#take(upload, () => {
      const dryRun = readFlag(upload.fields);
      return [this.#entryOf(upload.fileName, {}), dryRun];
    });
  }

  /** A dry run here and now, without a job, of any file on this machine. */
  async check(
    path: string,
    options: SubmitFileOptions & {
      readonly signal?: AbortSignal | undefined;
      readonly onProgress?: ((share: number, rows: number) => void) | undefined;
    } = {},
  ): Promise<ImportSummary> {
    checkOptions("imports.check", options, [...SUBMIT, "fileName", "signal", "onProgress"]);
    const fileName = checkFileName(options.fileName ?? path.split(/[\\/]/).at(-1));
    const { type, ...sheet } = this.#entryOf(fileName, options);
    const { batchSize, maxErrors, limits } = this.#options;
    return runImport({
      ...{ definition: this.#definition(type), path, fileName, sha256: "", job: "", fence: 0 },
      read: readOptions(sheet, limits),
      ...{ dryRun: true, batchSize, maxErrors, openSheet: this.#openSheet },
      signal: options.signal ?? new AbortController().signal,
      progress: options.onProgress ?? (() => {}),
    });
  }

  async get(id: string): Promise<ImportView> {
    const job = await this.#hf.job(id);
    if (job === null || !job.type.startsWith(JOB_TYPE_PREFIX)) {
      throw new ImportNotFoundError("there is no such import");
    }
    return viewOf(job);
  }

  /** Newest first. */
  async list(
    query: {
      readonly limit?: number | undefined;
      readonly cursor?: string | null | undefined;
    } = {},
  ): Promise<ImportsPage> {
    checkOptions("imports.list", query, ["limit", "cursor"]);
    const { limit = 50, cursor = null } = query;
    const page = await this.#hf.jobs({ queue: this.#options.queue, limit, cursor });
    const jobs = page.jobs.filter(({ type }) => type.startsWith(JOB_TYPE_PREFIX));
    return { imports: jobs.map(viewOf), nextCursor: page.nextCursor };
  }

  /** The rows that failed, up to `maxErrors`; also while the import runs. */
  async errors(id: string): Promise<readonly RowError[]> {
    const { type, summary, dryRun } = await this.get(id);
    const isWhole = summary !== null && summary.errors.length === summary.failed;
    if (isWhole || dryRun) return summary?.errors ?? [];
    return this.#definition(type).target.failures(id, this.#options.maxErrors);
  }

  /** The same as a file for a spreadsheet. */
  async errorFile(id: string): Promise<string> {
    return errorCsv(await this.errors(id));
  }

  /** Removes files of uploads that no job needs any more; done every hour by itself. */
  sweep(): Promise<number> {
    const { queue, keepUploadsMs: keepMs } = this.#options;
    const folder = uploadsOf(this.#inbox);
    return sweepUploads({ hf: this.#hf, folder, queue, keepMs, now: Date.now() });
  }

  /** Ends what targets opened. Close the Holdfast first: its workers use them. */
  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    for (const { target } of this.#definitions.values()) await target.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #begin(): Promise<void> {
    const { queue, definitions, ...settings } = this.#options;
    const jobTypes = definitions.map(({ jobType }) => jobType);
    const { logger } = this.#hf.tools;
    const isShared = sharedInbox({ hf: this.#hf, inbox: this.#inbox, queue, jobTypes });
    // A process that goes on without its store (`resilient`) begins without it, too, and looks when it matters.
    await isShared().catch((error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) throw error;
    });
    void this.#tellCautions();
    const place = {
      ...settings,
      ...{ inbox: this.#inbox, isShared, logger, openSheet: this.#openSheet },
      removeLater: (job: string, path: string) => void this.#toRemove.set(job, path),
    };
    for (const one of definitions) {
      this.#hf.define({
        ...{ ...one.job, type: one.jobType, queue },
        ...{ payload: importPayload, classify: classifyImport },
        run: importHandler(place, one),
      });
    }
    this.#stops.push(this.#hf.on("succeeded", ({ id }) => void this.#removeFileOf(id)));
    const timer = setInterval(() => void this.#sweepQuietly(), SWEEP_MS).unref();
    this.#stops.push(() => clearInterval(timer));
    await this.#sweepQuietly();
  }

  /** Not awaited: a target that is away keeps no program from starting. */
  async #tellCautions(): Promise<void> {
    for (const { target } of this.#definitions.values()) {
      const caution = await target.caution?.().catch(() => null);
      if (typeof caution === "string") this.#hf.tools.logger.warn(caution);
    }
  }

  async #removeFileOf(id: string): Promise<void> {
    const path = this.#toRemove.get(id);
    this.#toRemove.delete(id);
    if (path !== undefined) await rm(path, { force: true }).catch(() => {});
  }

  async #sweepQuietly(): Promise<void> {
    await this.sweep().catch((error: unknown) => {
      this.#hf.tools.logger.warn("old uploads could not be removed", { error });
    });
  }

  /** A file that is ours already: it is removed again if no job comes of it. */
  async #take(
    file: { readonly fileName: string; readonly path: string; readonly sha256: string },
    asked: () => readonly [entry: ManifestEntry, dryRun: boolean],
  ): Promise<ImportReceipt> {
    try {
      const [entry, dryRun] = asked();
      const { bytes } = await findInInbox(this.#inbox, file.path);
      if (bytes > this.#options.maxFileBytes) throw this.#tooLarge();
      await this.#look(file.path, entry);
      return await this.#enqueue(file, entry, dryRun, [uploadTag(file.path)]);
    } catch (error) {
      // There may be a job that needs it, and only the reply was lost. If there is none, the sweep has it in the end.
      const isDoubtful = error instanceof StoreUnavailableError && error.mayHaveHappened;
      if (!isDoubtful) await rm(file.path, { force: true });
      throw error;
    }
  }

  /**
   * What can be known of a file before it has a job: is it a sheet, with the headers that its type needs? Among very
   * many at once only its name, size and beginning.
   */
  async #look(path: string, { type, ...sheet }: ManifestEntry): Promise<void> {
    await checkBeginning(path);
    const definition = this.#definition(type);
    const look = async () => {
      await using opened = await this.#openSheet(path, readOptions(sheet, this.#options.limits));
      columnsOf(opened.columns, definition);
    };
    await this.#looks.run(look, { patienceMs: LOOK_WITHIN_MS });
  }

  async #enqueue(
    file: { readonly fileName: string; readonly path: string; readonly sha256: string },
    { type, sheetName, headerRow }: ManifestEntry,
    dryRun: boolean,
    tags: readonly string[],
  ): Promise<ImportReceipt> {
    const { jobType, job } = this.#definition(type);
    const { fileName, sha256 } = file;
    const payload: ImportPayload = {
      ...{ filePath: relative(this.#inbox, file.path), fileName, sha256 },
      ...(sheetName !== undefined && { sheetName }),
      ...(headerRow !== undefined && { headerRow }),
      ...(dryRun && { dryRun }),
    };
    const about = [type, sha256, sheetName ?? "", headerRow ?? "", dryRun ? "dry" : ""];
    const receipt = await this.#hf.enqueue(jobType as string, payload, {
      idempotencyKey: `import:${JSON.stringify(about)}`,
      ...{ onDuplicate: "return", onConflict: "return" },
      tags: [...(job.tags ?? []), ...tags],
    });
    if (receipt.status === "duplicate") throw await this.#duplicate(receipt.id, dryRun);
    return { id: receipt.id, jobType, type, file: fileName, dryRun };
  }

  async #duplicate(id: string, dryRun: boolean): Promise<DuplicateJobError> {
    const before = await this.#hf.job(id);
    const status = before?.status ?? "pruned";
    const isOver = status === "dead" || status === "cancelled";
    const advice = isOver ? await this.#adviceOn(before?.payload) : "";
    return new DuplicateJobError(
      `the same content was imported already as this type, by the job ${id} (${status}${dryRun ? ", a dry run" : ""})${advice}`,
      id,
      status,
    );
  }

  /** The file of an upload goes before its job does. Retried without it, the job would only die again. */
  async #adviceOn(payload: unknown): Promise<string> {
    const { filePath } = Object(payload) as Partial<ImportPayload>;
    const found = await findInInbox(this.#inbox, String(filePath)).catch(() => null);
    return found
      ? ": retry that job"
      : ": its file is gone, so remove that job and import the file again";
  }

  #entryOf(fileName: string, { type, sheetName, headerRow }: SubmitOptions): ManifestEntry {
    const listed = type === undefined ? this.manifest.find(fileName) : { type };
    if (listed === null) {
      throw new ImportRejectedError(
        "not-in-manifest",
        `${fileName} is not in the import manifest: add it there with its type`,
      );
    }
    this.#definition(listed.type);
    return {
      ...listed,
      ...(sheetName !== undefined && { sheetName }),
      ...(headerRow !== undefined && { headerRow }),
    };
  }

  #definition(type: string): ImportDefinition {
    const found = this.#definitions.get(type);
    if (found) return found;
    const near = nearestName(type, this.#definitions.keys());
    throw new ImportRejectedError(
      "unknown-type",
      `there is no import type "${type.slice(0, 100)}" here` +
        (near === null ? `: there are ${this.types.join(", ")}` : `: did you mean "${near}"?`),
    );
  }

  #tooLarge(): ImportRejectedError {
    const { maxFileBytes } = this.#options;
    return new ImportRejectedError("too-large", `a file has at most ${maxFileBytes} bytes`);
  }
}

/** The imports that were opened on a Holdfast, for tools; null: none were. */
export function importsOf(hf: object): Imports | null {
  return (hf as { readonly [OWN]?: Imports })[OWN] ?? null;
}

const PERMANENT = ["HOLDFAST_SHEET", "HOLDFAST_IMPORT_REJECTED", "HOLDFAST_IMPORT_TARGET"];

/** The same file into the same target fails the same way; a socket, or a file that was found before, may come again. */
function classifyImport(error: unknown) {
  const { code, syscall } = Object(error) as {
    readonly code?: unknown;
    readonly syscall?: unknown;
  };
  const category = syscall === "connect" ? "network" : "unknown";
  if (code === "ENOENT") return { category, permanent: false } as const;
  return PERMANENT.includes(String(code))
    ? ({ category: "validation", permanent: true } as const)
    : undefined;
}

function readOptions(
  { sheetName, headerRow }: Omit<ManifestEntry, "type">,
  limits: CheckedOptions["limits"],
) {
  return {
    limits,
    ...(sheetName !== undefined && { sheet: sheetName }),
    ...(headerRow !== undefined && { headerRow }),
  };
}
