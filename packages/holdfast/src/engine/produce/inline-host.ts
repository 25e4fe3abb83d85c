/**
 * What an attempt finds around it when it runs in its caller: no lease, no store. What a store would keep
 * is kept in memory until the caller has its receipt.
 */
import { LeaseLostError, UnsupportedError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Updates } from "../../core/store.ts";
import type { Ended } from "../extension.ts";
import type { Decided } from "../extensions.ts";
import type { Attempt } from "../run/attempt.ts";
import type { AttemptHost } from "../run/pipeline.ts";
import type { RunningJobHost } from "../run/running-job.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import type { InlineJob } from "./inline-job.ts";

export interface InlineHostOptions {
  readonly job: InlineJob;
  readonly compose: (...given: Parameters<RunningJobHost["compose"]>) => Promise<NewJob>;
  readonly ledgerWriter: LedgerWriter;
  readonly onSettled: (outcome: Outcome) => void;
}

export class InlineHost implements AttemptHost {
  readonly #options: InlineHostOptions;
  readonly compose: InlineHostOptions["compose"];
  readonly keeper: AttemptHost["keeper"];

  constructor(options: InlineHostOptions) {
    this.#options = options;
    this.compose = options.compose;
    this.keeper = {
      updatesWait() {},
      demand: (attempt) => this.#demand(attempt),
      write: async (attempt, updates) => this.#write(attempt, updates),
    };
  }

  check(): boolean {
    return true;
  }

  async begin(): Promise<void> {}

  settle(attempt: Attempt, { outcome, entries }: Decided, done: (how: Ended) => void): void {
    const { job, ledgerWriter, onSettled } = this.#options;
    job.write(attempt.takeUpdates() ?? {});
    job.settle(outcome, attempt.worker);
    ledgerWriter.bring(entries);
    done("settled");
    onSettled(outcome);
  }

  async settleWithin(): Promise<void> {
    throw new UnsupportedError(
      "this job runs in its caller, without a store: there is nothing to settle within",
    );
  }

  async readBack(): Promise<"lost"> {
    return "lost";
  }

  dropped(): void {}

  #write(attempt: Attempt, updates: Updates): void {
    this.#demand(attempt);
    this.#options.job.write(updates);
  }

  #demand(attempt: Attempt): void {
    if (attempt.phase === "running" && !attempt.abortReason) return;
    const { id } = attempt.job;
    throw attempt.abortReason ?? new LeaseLostError(`the attempt at ${id} is over`);
  }
}
