/** Opens a spreadsheet, whatever its name is, and gives its rows as fast as they are taken. */
import { ClosedError, InvalidOptionError } from "holdfast";
import { checkReadOptions, known } from "./read-options.ts";
import { ReaderThread } from "./reader-thread.ts";
import type { ReadOptions, RowsOptions, Sheet, SheetRow, SheetWarning } from "./sheet.ts";
import type { Opened } from "./thread-messages.ts";

export async function openSheet(path: string, options: ReadOptions = {}): Promise<Sheet> {
  if (typeof path !== "string" || path === "") {
    throw new InvalidOptionError("openSheet takes the path of a file");
  }
  const plan = checkReadOptions(options);
  const signal = options.signal ?? null;
  signal?.throwIfAborted();
  const thread = new ReaderThread({ path, plan });
  try {
    const opened = await thread.next(signal);
    if (opened.kind !== "opened") throw new Error(`A sheet began with "${opened.kind}"`);
    return new ThreadSheet(thread, opened, signal);
  } catch (error) {
    await thread.end(closed());
    throw error;
  }
}

function closed(): ClosedError {
  return new ClosedError("The sheet is closed: open it again");
}

class ThreadSheet implements Sheet {
  readonly format: "xlsx" | "csv";
  readonly name: string;
  readonly columns: readonly string[];
  readonly headerRow: number;
  readonly #thread: ReaderThread;
  readonly #signal: AbortSignal | null;
  readonly #warnings: SheetWarning[];
  #progress = 0;
  #isWalked = false;

  constructor(thread: ReaderThread, opened: Opened, signal: AbortSignal | null) {
    this.#thread = thread;
    this.#signal = signal;
    this.format = opened.format;
    this.name = opened.name;
    this.columns = opened.columns;
    this.headerRow = opened.headerRow;
    this.#warnings = [...opened.warnings];
  }

  get warnings(): readonly SheetWarning[] {
    return this.#warnings;
  }

  get progress(): number {
    return this.#progress;
  }

  rows(options: RowsOptions = {}): AsyncIterable<SheetRow> {
    known("rows", options, ["after", "signal"]);
    const { after = 0, signal } = options;
    if (!Number.isInteger(after) || after < 0) {
      throw new InvalidOptionError("after is the number of a row, from 0");
    }
    if (this.#isWalked) {
      throw new InvalidOptionError("The rows of a sheet can be walked once: open it again");
    }
    this.#isWalked = true;
    const signals = [this.#signal, signal ?? null].filter((one) => one !== null);
    return this.#walk(
      after,
      signals.length === 2 ? AbortSignal.any(signals) : (signals[0] ?? null),
    );
  }

  async close(): Promise<void> {
    await this.#thread.end(closed());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async *#walk(after: number, signal: AbortSignal | null): AsyncGenerator<SheetRow, void> {
    const thread = this.#thread;
    try {
      thread.say({ kind: "start", after });
      for (;;) {
        const message = await thread.next(signal);
        if (message.kind === "opened") continue;
        this.#warnings.push(...message.warnings);
        if (message.kind === "end") break;
        // Asked for before this one is handed out, so that the next is read meanwhile.
        thread.say({ kind: "more" });
        const { rows, cells } = message;
        const width = this.columns.length;
        for (let at = 0; at < rows.length; at += 1) {
          yield { row: rows[at]!, cells: cells.slice(at * width, (at + 1) * width) };
        }
        this.#progress = message.progress;
      }
      this.#progress = 1;
    } finally {
      await this.close();
    }
  }
}
