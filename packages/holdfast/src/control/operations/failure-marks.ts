/**
 * Marks the failures of retried jobs as set right. A ledger that hangs must not hold an operation up, or its claim
 * would run out in the middle of a step, and processes would hand it to one another for ever. So what is to be
 * marked is part of the operation's record, and whoever carries it on takes a second of each turn for it.
 */
import { ClosedError } from "../../core/errors.ts";
import { isRetryable, type ExtensionHost } from "../../engine/extension.ts";
import { waitAtMost } from "../../engine/runtime.ts";
import { resolveEntries } from "../failures/resolve-entries.ts";
import type { OperationRecord, Unmarked } from "./operation.ts";
import { writeOperation, type Versioned } from "./operation-records.ts";

/** In one turn of an operation, and after a step of it. */
const MARK_MS = 1_000;
/** So many wait for a ledger that is away. It holds no retry up: those of older ones stay unresolved. */
const MOST_UNMARKED = 1_000;
/** While a call hangs no other is made; one without any answer is given up after so long. */
const HANGING_MS = 30_000;

export class FailureMarks {
  readonly #host: ExtensionHost;
  #hangsUntil = -Infinity;

  constructor(host: ExtensionHost) {
    this.#host = host;
  }

  /** Those that are to be marked with these. */
  added(before: readonly Unmarked[], retried: readonly Unmarked[]): readonly Unmarked[] {
    if (!this.#host.hasLedger) return before;
    const all = [...before, ...retried];
    if (all.length > MOST_UNMARKED) tellUnmarked(this.#host, all.length - MOST_UNMARKED);
    return all.slice(-MOST_UNMARKED);
  }

  /** Marks what it can. Null: another process has the operation now, or a person stopped it. */
  async mark({ operation, version }: Versioned): Promise<Versioned | null> {
    const { unmarked = [] } = operation;
    const marked = await this.#markSome(operation, unmarked);
    if (marked === 0) return { operation, version };
    const rest = { ...operation, unmarked: unmarked.slice(marked) };
    return writeOperation(this.#host.records, rest, version);
  }

  /** Answers of how many. */
  async #markSome(operation: OperationRecord, unmarked: readonly Unmarked[]): Promise<number> {
    const { runtime } = this.#host;
    const until = runtime.monotonic() + MARK_MS;
    let marked = 0;
    for (const one of unmarked) {
      const leftMs = until - runtime.monotonic();
      if (leftMs <= 0 || runtime.monotonic() < this.#hangsUntil) break;
      let isMarked = false;
      const asking = this.#markOne(operation, one).then((answer) => (isMarked = answer));
      await waitAtMost(runtime, asking, leftMs);
      if (!isMarked) break;
      marked += 1;
    }
    return marked;
  }

  /** False: the ledger does not answer now. */
  async #markOne({ by, reason }: OperationRecord, [id, attempts]: Unmarked): Promise<boolean> {
    const hangsUntil = this.#host.runtime.monotonic() + HANGING_MS;
    this.#hangsUntil = hangsUntil;
    try {
      await resolveEntries(this.#host, { id, attempts }, { by, reason });
      return true;
    } catch (error) {
      if (isRetryable(error) || error instanceof ClosedError) return false;
      this.#host.logger.warn(`the failures of job ${id} could not be marked resolved`, { error });
      return true;
    } finally {
      if (this.#hangsUntil === hangsUntil) this.#hangsUntil = -Infinity;
    }
  }
}

/** What is left of them when nothing more will be done about it. */
export function tellUnmarked({ logger }: Pick<ExtensionHost, "logger">, count: number): void {
  logger.warn(
    `the failures of ${count} retried jobs were not marked resolved: the ledger did not answer`,
  );
}
