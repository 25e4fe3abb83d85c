/** The caller's end of a reader's thread: starts it, hands out what it says one by one, and ends it. */
import { Worker } from "node:worker_threads";
import { SheetError } from "./sheet.ts";
import type { FromReader, ThreadData, ToReader } from "./thread-messages.ts";

/** Of the thread's own heap: texts and tables are outside of it, and counted by the reader itself. */
const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 128,
  maxYoungGenerationSizeMb: 3,
  stackSizeMb: 4,
};

export class ReaderThread {
  readonly #worker: Worker;
  readonly #arrived: FromReader[] = [];
  #error: Error | null = null;
  #onNews: (() => void) | null = null;

  constructor(data: ThreadData) {
    // The sources run as they are, so the thread has the ending that this file has.
    const file = import.meta.url.endsWith(".ts") ? "./sheet-thread.ts" : "./sheet-thread.js";
    this.#worker = new Worker(new URL(file, import.meta.url), {
      ...{ workerData: data, name: "holdfast-sheet", resourceLimits: RESOURCE_LIMITS },
      // What a process was started with (a loader, a debugger) is nothing for this thread.
      ...{ execArgv: [], argv: [] },
    });
    this.#worker.on("message", (message: FromReader) => {
      this.#arrived.push(message);
      this.#onNews?.();
    });
    this.#worker.on("error", (error) => this.#fail(asOwn(error)));
    this.#worker.on("exit", () => this.#fail(new Error("The thread that read a sheet has ended")));
    this.#worker.unref();
  }

  say(message: ToReader): void {
    this.#worker.postMessage(message);
  }

  /** The next message. A file that is refused, an abort and a thread that fails reject. */
  async next(
    signal: AbortSignal | null,
  ): Promise<Exclude<FromReader, { kind: "refused" | "broken" }>> {
    // Only a caller that waits keeps its process alive.
    this.#worker.ref();
    const wake = () => this.#onNews?.();
    signal?.addEventListener("abort", wake, { once: true });
    try {
      for (;;) {
        signal?.throwIfAborted();
        const message = this.#arrived.shift();
        if (message !== undefined) return accepted(message);
        if (this.#error !== null) throw this.#error;
        await new Promise<void>((resolve) => {
          this.#onNews = resolve;
        });
      }
    } finally {
      this.#onNews = null;
      signal?.removeEventListener("abort", wake);
      this.#worker.unref();
    }
  }

  async end(reason: Error): Promise<void> {
    this.#fail(reason);
    this.#arrived.length = 0;
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#onNews?.();
  }
}

function accepted(message: FromReader): Exclude<FromReader, { kind: "refused" | "broken" }> {
  if (message.kind === "refused") {
    throw new SheetError(message.reason, message.message, message.place);
  }
  if (message.kind !== "broken") return message;
  const error: NodeJS.ErrnoException = new Error(message.message);
  if (message.code !== null) error.code = message.code;
  throw error;
}

function asOwn(error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new SheetError("too-large", "Reading the file takes more memory than a reader may have");
  }
  return error instanceof Error ? error : new Error(String(error));
}
