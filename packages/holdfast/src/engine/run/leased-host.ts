/**
 * What a worker does for the attempts it has leased: the keeper holds the lease, the settler takes the
 * outcome to the store, and a caller's transaction is asked through the store itself.
 */
import type { EnqueueOptions } from "../../core/contract.ts";
import { LeaseLostError, ResultValidationError, UnsupportedError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import { validateWith } from "../../core/standard-schema.ts";
import type { Settlement } from "../../core/store.ts";
import type { Ended } from "../extension.ts";
import type { Decided, Extensions } from "../extensions.ts";
import type { LeaseKeeper } from "../lease/lease-keeper.ts";
import type { Logger } from "../logger.ts";
import type { Registry } from "../registry.ts";
import type { Retention } from "../retention.ts";
import { isRetryable } from "../retrying.ts";
import { sleep, type Runtime } from "../runtime.ts";
import { succeed } from "../settle/decide.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import type { Settler } from "../settle/settler.ts";
import type { WatchedStore } from "../watched-store.ts";
import type { Attempt } from "./attempt.ts";
import { ViewedAttempt } from "./attempt-view.ts";
import { reportDropped, type AttemptHost } from "./pipeline.ts";
import type { SpawnTarget } from "./running-job.ts";

/** A caller's transaction that is open for longer after its handler has ended is worth a word. */
const TRANSACTION_PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 100;

export interface LeasedHostOptions {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly extensions: Extensions;
  readonly retention: Retention;
  readonly ledgerWriter: LedgerWriter;
  readonly keeper: LeaseKeeper;
  readonly settler: Settler;
  readonly compose: (
    target: SpawnTarget,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ) => Promise<NewJob> | NewJob;
}

export class LeasedHost implements AttemptHost {
  readonly #options: LeasedHostOptions;
  readonly keeper: LeaseKeeper;
  readonly compose: LeasedHostOptions["compose"];

  constructor(options: LeasedHostOptions) {
    this.#options = options;
    this.keeper = options.keeper;
    this.compose = options.compose;
  }

  check(attempt: Attempt): boolean {
    return this.keeper.check(attempt);
  }

  begin(attempt: Attempt): Promise<void> {
    return this.keeper.begin(attempt);
  }

  dropped(attempt: Attempt): void {
    this.keeper.drop(attempt);
  }

  settle(attempt: Attempt, decided: Decided, done: (how: Ended) => void): void {
    const { settler, logger } = this.#options;
    settler.push(this.#settlement(attempt, decided), (error, result) => {
      this.keeper.drop(attempt);
      if (error === null) return done(result === "lost" ? "lost" : "settled");
      // Of a store that is away the settler has spoken, once for all.
      if (!isRetryable(error)) {
        logger.error(`job ${attempt.job.id} could not be settled; its lease will run out`, {
          error,
        });
      }
      done("given up");
    });
  }

  async settleWithin(attempt: Attempt, tx: unknown, result: unknown): Promise<void> {
    const { store } = this.#options.watched;
    this.keeper.demand(attempt);
    if (!store.within) {
      throw new UnsupportedError(
        `the ${store.info().name} store cannot write inside its callers' transactions: see info()`,
      );
    }
    const within = store.within(tx);
    if (store.info().transactionBlocksWriters) attempt.blockedBy = within;
    const schema = this.#options.registry.get(attempt.job.type)?.contract.result;
    const what = `the result of ${attempt.job.type}`;
    const checked = schema
      ? await validateWith(schema, result, what, ResultValidationError)
      : result;
    const drop = (error: unknown) => reportDropped(this.#options.logger, attempt, error);
    const outcome = succeed(checked, drop);
    const entries = await this.#entriesWithin(attempt, outcome);
    // From here on no renewal may wait for the caller's row locks.
    attempt.settlesWithin(within);
    const [answer] = await within.settle([this.#settlement(attempt, { outcome, entries })]);
    if (answer === "settled") return attempt.writtenWithin();
    attempt.notSettledWithin();
    const lost = new LeaseLostError(`the lease of job ${attempt.job.id} is lost`);
    attempt.lose(lost);
    throw lost;
  }

  /** Settled in the caller's transaction: only the database knows whether that committed. */
  async readBack(attempt: Attempt): Promise<"settled" | "rolled back" | "lost"> {
    const { runtime, watched } = this.#options;
    const { id, queue, fence } = attempt.job;
    await this.#transactionEnds(attempt);
    for (;;) {
      // The keeper may have heard of it meanwhile.
      if (attempt.wasRolledBack) return "rolled back";
      try {
        const [found] = await watched.store.get([{ id, queue }]);
        const isStored = typeof found === "object" && found !== null;
        if (isStored && found.status === "processing" && found.fence === fence) {
          attempt.rolledBack();
          return "rolled back";
        }
        // It is held under this fence no more, so this changes nothing: it asks who settled it last.
        const repeat = { ...attempt.ref, outcome: succeed(undefined) };
        const [answer] = await watched.store.settle([repeat]);
        if (answer !== "busy") return answer === "settled" ? "settled" : "lost";
      } catch (error) {
        if (!isRetryable(error)) throw error;
      }
      await sleep(runtime, LOOK_EVERY_MS);
    }
  }

  /**
   * Until then any look would be a guess: a commit may still make it succeed. The row is the transaction's
   * own meanwhile, so no other worker gets the job.
   */
  async #transactionEnds(attempt: Attempt): Promise<void> {
    const { runtime, logger } = this.#options;
    const { id, type } = attempt.job;
    for (let look = 1; attempt.isTransactionOpen; look += 1) {
      await sleep(runtime, LOOK_EVERY_MS);
      if (look * LOOK_EVERY_MS !== TRANSACTION_PATIENCE_MS) continue;
      logger.warn(
        `job ${id} (${type}): the transaction it was settled in is still open, though its handler has ended. ` +
          "The job takes up a slot until it commits or rolls back",
      );
    }
  }

  /** An extension may add entries to what a caller's transaction stores; the outcome is the caller's. */
  async #entriesWithin(attempt: Attempt, outcome: Outcome): Promise<Decided["entries"]> {
    const { registry, extensions } = this.#options;
    const contract = registry.get(attempt.job.type)?.contract ?? null;
    const hooks = extensions.of(contract);
    if (hooks.decided.length === 0) return [];
    const view = new ViewedAttempt(attempt, contract);
    return (await extensions.decided(hooks, view, outcome)).entries;
  }

  #settlement(attempt: Attempt, { outcome, entries }: Decided): Settlement {
    const { retention, ledgerWriter } = this.#options;
    const updates = attempt.takeUpdates();
    const status = finishedStatus(outcome);
    return {
      ...attempt.ref,
      outcome,
      ...(entries.length > 0 && ledgerWriter.placed(entries)),
      ...(updates && { updates }),
      ...(outcome.kind === "succeed" && attempt.spawned.length > 0 && { spawn: attempt.spawned }),
      ...(status && retention.discards(attempt.job.queue, status) && { discard: true }),
    };
  }
}

function finishedStatus(outcome: Outcome): "succeeded" | "dead" | "cancelled" | null {
  switch (outcome.kind) {
    case "succeed":
      return "succeeded";
    case "die":
      return "dead";
    case "cancel":
      return "cancelled";
    case "retry":
    case "snooze":
    case "release":
      return null;
  }
}
