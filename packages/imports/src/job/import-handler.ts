/** The handler of `import.xlsx.<type>`. It repeats every check of a file: a job may have come by any way. */
import { rm } from "node:fs/promises";
import type { Logger, RunningJob } from "holdfast";
import type { ImportDefinition } from "../define-import.ts";
import { ImportInboxError, ImportRejectedError } from "../errors.ts";
import { checkBeginning, findInInbox, hashFile, type FoundFile } from "../files/inbox.ts";
import type { ReadLimits } from "../read/sheet.ts";
import type { ImportPayload } from "./import-payload.ts";
import type { ImportSummary } from "./import-summary.ts";
import { runImport, type OpenSheet } from "./run-import.ts";

export interface HandlerPlace {
  /** Real, absolute. */
  readonly inbox: string;
  /** Whether other processes have this inbox, too. Throws while the store is away. */
  isShared(): Promise<boolean>;
  readonly limits: Partial<ReadLimits>;
  readonly batchSize: number;
  readonly maxErrors: number;
  readonly maxFileBytes: number;
  readonly logger: Logger;
  readonly openSheet: OpenSheet;
  /** Removes a file once the job's success is stored. */
  removeLater(job: string, path: string): void;
}

export function importHandler(place: HandlerPlace, definition: ImportDefinition) {
  return async (job: RunningJob<ImportPayload>): Promise<ImportSummary> => {
    const { payload } = job;
    const dryRun = payload.dryRun === true;
    const file = await fileOf(place, job);
    const sha256 = file ? await checkedHash(place, file, job) : (payload.sha256 as string);
    const summary = await runImport({
      ...{ definition, dryRun, sha256, path: file?.path ?? null, job: job.id, fence: job.fence },
      fileName: payload.fileName ?? payload.filePath.split(/[\\/]/).at(-1) ?? "",
      read: {
        limits: place.limits,
        ...(payload.sheetName !== undefined && { sheet: payload.sheetName }),
        ...(payload.headerRow !== undefined && { headerRow: payload.headerRow }),
      },
      ...{ batchSize: place.batchSize, maxErrors: place.maxErrors, signal: job.signal },
      openSheet: place.openSheet,
      progress: (share, rows) => void job.progress(Math.floor(share * 100), `${rows} rows`),
    });
    if (file?.isUpload === true) {
      // Of an import the target knows that it is over; a dry run might have to begin again. So might a job that is
      // being handed back: it comes again as its first attempt, for which a missing file is a wrong one.
      if (dryRun || job.signal.aborted) place.removeLater(job.id, file.path);
      else await rm(file.path, { force: true });
    }
    const { totalRows, inserted, updated, failed } = summary;
    place.logger.info("imported", {
      ...{ event: "import:end", job: job.id, type: definition.type, dryRun },
      ...{ totalRows, inserted, updated, failed },
    });
    return summary;
  };
}

/** Null: it is gone, and an attempt before may have come to the end. */
async function fileOf(
  place: HandlerPlace,
  { payload, attempt }: RunningJob<ImportPayload>,
): Promise<FoundFile | null> {
  try {
    return await findInInbox(place.inbox, payload.filePath);
  } catch (error) {
    const isMissing = error instanceof ImportRejectedError && error.reason === "missing-file";
    if (!isMissing) throw error;
    if (!(await place.isShared())) {
      throw new ImportInboxError(
        "the file is not in the inbox of this worker, which is another folder than that of other processes: share one folder between the machines",
      );
    }
    if (attempt > 1 && payload.sha256 !== undefined && payload.dryRun !== true) return null;
    throw error;
  }
}

async function checkedHash(
  { maxFileBytes }: HandlerPlace,
  { path, bytes }: FoundFile,
  { payload, signal }: RunningJob<ImportPayload>,
): Promise<string> {
  if (bytes > maxFileBytes) {
    throw new ImportRejectedError("too-large", `a file has at most ${maxFileBytes} bytes`);
  }
  await checkBeginning(path);
  const sha256 = await hashFile(path, signal);
  if (payload.sha256 === undefined || payload.sha256 === sha256) return sha256;
  throw new ImportRejectedError(
    "file-changed",
    "the file was changed after its job had been made: import the new one as a new job",
  );
}
