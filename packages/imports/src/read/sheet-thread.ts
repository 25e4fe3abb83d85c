/**
 * The thread in which a file is read: a file that takes more than its share ends this thread, not its process, and the
 * caller's loop never waits for a parser. It loads only files of this folder, so that it starts quickly, from sources
 * and from what is published alike.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { CellValue } from "./sheet.ts";
import { SheetFault } from "./sheet-fault.ts";
import { SheetReader } from "./sheet-reader.ts";
import {
  BATCHES_AHEAD,
  type FromReader,
  type ThreadData,
  type ToReader,
} from "./thread-messages.ts";

const port = parentPort!;
const { path, plan } = workerData as ThreadData;

let credit = BATCHES_AHEAD;
let onCredit: (() => void) | null = null;
const started = Promise.withResolvers<number>();

port.on("message", (message: ToReader) => {
  if (message.kind === "start") {
    started.resolve(message.after);
  } else {
    credit += 1;
    onCredit?.();
  }
});

read()
  .catch((error: unknown) => tell(told(error)))
  .finally(() => port.close());

async function read(): Promise<void> {
  const reader = await SheetReader.open(path, plan);
  try {
    const { format, name, header, warnings } = reader;
    const { row: headerRow, columns } = header;
    tell({ kind: "opened", format, name, columns, headerRow, warnings: warnings.news() });
    for await (const rows of reader.batches(await started.promise)) {
      while (credit === 0) await nextCredit();
      credit -= 1;
      const cells: CellValue[] = [];
      for (const row of rows) for (const cell of row.cells) cells.push(cell);
      const numbers = rows.map(({ row }) => row);
      tell({
        ...{ kind: "rows", rows: numbers, cells },
        ...{ warnings: warnings.news(), progress: reader.progress },
      });
    }
    tell({ kind: "end", warnings: warnings.news() });
  } finally {
    reader.close();
  }
}

function nextCredit(): Promise<void> {
  return new Promise((resolve) => {
    onCredit = resolve;
  });
}

function tell(message: FromReader): void {
  port.postMessage(message);
}

function told(error: unknown): FromReader {
  if (error instanceof SheetFault) {
    const { reason, message, place } = error;
    return { kind: "refused", reason, message, place };
  }
  const { message, code } = error as NodeJS.ErrnoException;
  return { kind: "broken", message, code: code ?? null };
}
