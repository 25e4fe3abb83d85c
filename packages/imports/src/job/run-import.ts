/**
 * One import, from a file to a target. It reads the next batch while the last one is written, and writes them one
 * after the other: how far it has come is stored with each, so that another attempt goes on there.
 */
import { columnsOf, type Columns } from "../columns.ts";
import type { ImportDefinition } from "../define-import.ts";
import { ImportRejectedError } from "../errors.ts";
import type { ReadOptions, Sheet } from "../read/sheet.ts";
import { keyText } from "../targets/batch-rows.ts";
import type { ImportState, RowError, TargetRow } from "../targets/target.ts";
import { fitErrors, MOST_WARNINGS, type ImportSummary } from "./import-summary.ts";
import { KeyIndex } from "./key-index.ts";
import { readRow } from "./read-rows.ts";

export type OpenSheet = (path: string, options: ReadOptions) => Promise<Sheet>;

export interface ImportRun {
  readonly definition: ImportDefinition;
  /** Null: it is gone. */
  readonly path: string | null;
  /** As its sender called it. */
  readonly fileName: string;
  readonly sha256: string;
  readonly read: ReadOptions;
  readonly job: string;
  readonly fence: number;
  readonly dryRun: boolean;
  readonly batchSize: number;
  readonly maxErrors: number;
  readonly signal: AbortSignal;
  readonly openSheet: OpenSheet;
  /** How far it is, from 0 to 1. */
  progress(share: number, rows: number): void;
}

const START: ImportState = {
  ...{ file: "", upTo: 0, totalRows: 0, inserted: 0, updated: 0, failed: 0, isFinished: false },
  notes: null,
};

interface Gathered {
  readonly rows: TargetRow[];
  readonly failures: RowError[];
  upTo: number;
  count: number;
}

export async function runImport(run: ImportRun): Promise<ImportSummary> {
  const { definition, dryRun, job, fence } = run;
  const { target, type } = definition;
  const state = dryRun ? START : await target.begin({ job, fence, type, file: run.sha256 });
  if (!dryRun && state.file !== run.sha256) {
    throw new ImportRejectedError(
      "file-changed",
      "the file was changed after this import had begun: import the new one as a new job",
    );
  }
  const desk = new Desk(run, state);
  if (state.isFinished) desk.recall(state.notes);
  else await desk.readAll();
  return desk.summary();
}

/** The counts of one import, and the batch that is on its way. */
class Desk {
  readonly #run: ImportRun;
  readonly #keys = new KeyIndex();
  readonly #errors: RowError[] = [];
  readonly #warnings: RowError[] = [];
  #state: ImportState;
  #replaced = 0;
  #isPrepared = false;

  constructor(run: ImportRun, state: ImportState) {
    this.#run = run;
    this.#state = state;
  }

  async readAll(): Promise<void> {
    const { definition, path, read, openSheet, signal, batchSize } = this.#run;
    if (path === null) {
      throw new ImportRejectedError("missing-file", "there is no such file in the inbox any more");
    }
    await using sheet = await openSheet(path, { ...read, signal });
    const columns = columnsOf(sheet.columns, definition);
    this.#noteIgnored(columns, sheet.headerRow);
    const doneBefore = this.#state.upTo;
    let next = gathered();
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const cells of sheet.rows({ signal })) {
        const answer = readRow(definition, columns, cells);
        const one = "then" in answer ? await answer : answer;
        if (one.row) this.#noteReplaced(one.row);
        // What an earlier attempt has written is read for its keys alone.
        if (cells.row <= doneBefore) continue;
        next.upTo = cells.row;
        next.count += 1;
        if (one.row) next.rows.push(one.row);
        else next.failures.push(one.error);
        if (next.count < batchSize) continue;
        await writing;
        writing = this.#write(next, sheet.progress);
        // It is awaited before the next one: until then its failure has no other listener.
        writing.catch(() => {});
        next = gathered();
      }
    } catch (error) {
      // A file that fails, or a cancel: nobody is told that it is over while a batch is being written.
      await writing.catch(() => {});
      throw error;
    }
    await writing;
    if (next.count > 0) await this.#write(next, 1);
    for (const { row, column, message } of sheet.warnings) {
      this.#warn({ row, reason: column === undefined ? message : `${column}${row}: ${message}` });
    }
    signal.throwIfAborted();
    this.#run.progress(1, this.#state.totalRows);
    if (!this.#run.dryRun) await this.#finish();
  }

  /** An attempt before had come to the end, and could not say so any more. */
  recall(notes: string | null): void {
    const { replaced = 0, warnings = [] } = JSON.parse(notes ?? "{}") as {
      readonly replaced?: number;
      readonly warnings?: readonly RowError[];
    };
    this.#replaced = replaced;
    this.#warnings.push(...warnings);
  }

  async summary(): Promise<ImportSummary> {
    const { definition, fileName, dryRun, job, maxErrors } = this.#run;
    const { totalRows, inserted, updated, failed } = this.#state;
    const all =
      dryRun || failed === 0 ? this.#errors : await definition.target.failures(job, maxErrors);
    const errors = fitErrors(all);
    return {
      ...{ type: definition.type, file: fileName, dryRun, totalRows, inserted, updated, failed },
      ...{ errors, errorsLeftOut: failed - errors.length },
      ...{ replaced: this.#replaced, warnings: this.#warnings },
    };
  }

  async #write(next: Gathered, share: number): Promise<void> {
    const { definition, job, fence, dryRun, maxErrors, signal, progress } = this.#run;
    signal.throwIfAborted();
    const { upTo: after, failed } = this.#state;
    const [first] = next.rows;
    if (first && !this.#isPrepared) {
      await definition.target.prepare(Object.keys(first.key));
      this.#isPrepared = true;
    }
    const keep = Math.max(0, maxErrors - failed);
    const batch = {
      ...{ job, fence, after, keep, upTo: next.upTo, totalRows: next.count },
      ...{ rows: next.rows, failures: next.failures },
    };
    const answer = dryRun
      ? { ...(await this.#lookUp(next.rows)), failures: next.failures }
      : await definition.target.write(batch);
    const { totalRows, inserted, updated } = this.#state;
    this.#state = {
      ...this.#state,
      ...{ upTo: next.upTo, totalRows: totalRows + next.count },
      ...{ inserted: inserted + answer.inserted, updated: updated + answer.updated },
      failed: failed + answer.failures.length,
    };
    if (dryRun) this.#errors.push(...answer.failures.slice(0, keep));
    progress(share, this.#state.totalRows);
  }

  /** Once a key of this file was counted, its next row would be an update. */
  readonly #counted = new KeyIndex();

  async #lookUp(rows: readonly TargetRow[]): Promise<{ inserted: number; updated: number }> {
    const there = await this.#run.definition.target.existing(rows.map(({ key }) => key));
    let inserted = 0;
    for (const [at, { key, row }] of rows.entries()) {
      const isSeen = this.#counted.put(keyText(key), row) !== 0;
      if (there[at] !== true && !isSeen) inserted += 1;
    }
    return { inserted, updated: rows.length - inserted };
  }

  async #finish(): Promise<void> {
    const { definition, job, fence } = this.#run;
    const notes = JSON.stringify({ replaced: this.#replaced, warnings: this.#warnings });
    await definition.target.finish({ job, fence, after: this.#state.upTo, notes });
  }

  #noteReplaced({ row, key }: TargetRow): void {
    const before = this.#keys.put(keyText(key), row);
    if (before === 0) return;
    this.#replaced += 1;
    this.#warn({ row: before, reason: `row ${row} has the same key, and is the one that counts` });
  }

  #noteIgnored({ ignored }: Columns, headerRow: number): void {
    for (const header of ignored) {
      this.#warn({
        row: headerRow,
        reason: `the column "${header.slice(0, 100)}" is not imported`,
      });
    }
  }

  #warn(warning: RowError): void {
    if (this.#warnings.length < MOST_WARNINGS) this.#warnings.push(warning);
  }
}

function gathered(): Gathered {
  return { rows: [], failures: [], upTo: 0, count: 0 };
}
