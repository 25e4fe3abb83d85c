/**
 * Asks for the lock of an attempt before its handler starts, and says afterwards what became of it.
 *
 *   before ─▶ the record is ours: run
 *          ─▶ another job runs it, or it is done: succeed, skipped
 *          ─▶ trouble with the lock itself, or two seconds without an answer: run without it, logged and counted
 *   ended  ─▶ succeeded: completed · failed: failed · snoozed, released, cancelled: no record
 *
 * The record follows after the settle. If it is not written, the next one that reads it looks at the job.
 */
import type { JobContract } from "../../core/contract.ts";
import { UnsupportedError } from "../../core/errors.ts";
import { describeFailure } from "../../core/failure.ts";
import { askLock, needsHolder } from "../../core/lock.ts";
import type { LockAnswer, LockHolder, LockRecord } from "../../core/lock.ts";
import type { Outcome } from "../../core/outcome.ts";
import { isRetryable, sleep } from "../../engine/extension.ts";
import type { AttemptView, Ended, Extension, ExtensionHost } from "../../engine/extension.ts";
import { claimOf } from "./lock-claim.ts";
import { holdersOf, readLock, writeLock, type VersionedLock } from "./lock-records.ts";
import type { SkippedResult } from "./skipped-result.ts";

/** A hook has two seconds: ours ends by itself before that. */
const ASK_MS = 1_900;
const ASK_AGAIN_MS = 50;
const FOLLOW_TRIES = 5;
const FOLLOW_AGAIN_MS = 500;

/** What an attempt asked for. */
interface Asked {
  readonly claim: LockRecord;
  /** On the monotonic clock. */
  readonly at: number;
  /** Of the record that it wrote, once that is known. */
  version: number | null;
  isSkipped: boolean;
  isGivenUp: boolean;
}

export class LockKeeper implements Extension {
  readonly name = "locks";
  readonly #host: ExtensionHost;
  readonly #asked = new WeakMap<AttemptView, Asked>();
  /** How many jobs of this process ran without their lock, because it could not be asked. */
  failedOpen = 0;

  constructor(host: ExtensionHost) {
    this.#host = host;
  }

  applies(contract: JobContract): boolean {
    return Boolean(contract.lock);
  }

  async before(attempt: AttemptView): Promise<Outcome | undefined> {
    const rule = attempt.contract?.lock;
    if (!rule) return undefined;
    let claim: LockRecord;
    try {
      claim = claimOf(attempt, rule);
    } catch (error) {
      const failure = describeFailure(error, { type: attempt.type, category: "validation" });
      return { kind: "die", reason: "validation", failure, ran: true };
    }
    const at = this.#host.runtime.monotonic();
    const asked: Asked = { claim, at, version: null, isSkipped: false, isGivenUp: false };
    this.#asked.set(attempt, asked);
    try {
      const answer = await this.#inTime(asked);
      const outcome = outcomeOf(answer);
      asked.isSkipped = outcome !== undefined;
      return outcome;
    } catch (error) {
      this.#runWithout(claim, error);
      return undefined;
    }
  }

  ended(attempt: AttemptView, how: Ended, outcome: Outcome | null): void {
    const asked = this.#asked.get(attempt);
    if (!asked || asked.isSkipped || how !== "settled" || outcome === null) return;
    const { claim, at } = asked;
    const finishedAt = claim.startedAt + Math.round(this.#host.runtime.monotonic() - at);
    void this.#follow(asked, lockAfter({ ...claim, finishedAt }, outcome));
  }

  #inTime(asked: Asked): Promise<LockAnswer> {
    return new Promise((resolve, reject) => {
      const timer = this.#host.runtime.timer(ASK_MS, () => {
        asked.isGivenUp = true;
        reject(new Error("the lock was not answered within two seconds"));
      });
      this.#ask(asked)
        .then(resolve, reject)
        .finally(() => timer.cancel());
    });
  }

  async #ask(asked: Asked): Promise<LockAnswer> {
    let current: VersionedLock | null = null;
    for (;;) {
      try {
        const answered = await this.#askOnce(asked, current);
        if (typeof answered === "string") return answered;
        current = answered.current;
      } catch (error) {
        // What was not answered may have been written: it is recognised by the job and the fence.
        if (asked.isGivenUp || !isRetryable(error)) throw error;
        await sleep(this.#host.runtime, ASK_AGAIN_MS);
      }
    }
  }

  /** An answer, or what another process wrote meanwhile. */
  async #askOnce(
    asked: Asked,
    current: VersionedLock | null,
  ): Promise<LockAnswer | { readonly current: VersionedLock | null }> {
    const { claim } = asked;
    const record = current?.lock ?? null;
    const holder = needsHolder(record, claim) ? await this.#holderOf(record!) : null;
    const [next, answer] = askLock(record, claim, holder);
    if (next === record) return answer;
    const write = { lock: next, expect: current?.version ?? null };
    const writing = this.#host.lastingRecords((records) => writeLock(records, claim.id, write));
    // Who skips only repairs: what the job says is known already.
    const result = answer === "run" ? await writing : await writing.catch(() => null);
    if (result === null || result.written) {
      if (answer === "run") asked.version = result?.version ?? null;
      return answer;
    }
    return result;
  }

  async #holderOf(record: LockRecord): Promise<LockHolder | null> {
    try {
      const [holder] = await holdersOf(this.#host, [record]);
      return holder ?? null;
    } catch (error) {
      // Without a store no job is on record.
      if (error instanceof UnsupportedError) return null;
      throw error;
    }
  }

  #runWithout({ key, scope, jobId, type }: LockRecord, error: unknown): void {
    this.failedOpen += 1;
    this.#host.logger.error(`job ${jobId} (${type}) runs without its lock, which did not answer`, {
      ...{ type: "LOCK_FAILED_OPEN", key, scope, jobId, failedOpen: this.failedOpen, error },
    });
  }

  /** Only what this attempt wrote is changed. */
  async #follow(asked: Asked, lock: LockRecord | null): Promise<void> {
    const { claim } = asked;
    const { lastingRecords, logger, runtime } = this.#host;
    let expect = asked.version;
    for (let tries = 1; ;) {
      try {
        if (expect === null) {
          const found = await lastingRecords((records) => readLock(records, claim.id));
          if (!isBy(found, claim)) return;
          expect = found.version;
        }
        const write = { lock, expect };
        const result = await lastingRecords((records) => writeLock(records, claim.id, write));
        if (result.written || !isBy(result.current, claim)) return;
        expect = result.current.version;
      } catch (error) {
        if (isRetryable(error) && tries < FOLLOW_TRIES) {
          await sleep(runtime, FOLLOW_AGAIN_MS * tries);
          tries += 1;
          continue;
        }
        logger.warn(`lock ${claim.key} was not told that job ${claim.jobId} ended`, { error });
        return;
      }
    }
  }
}

function outcomeOf(answer: LockAnswer): Outcome | undefined {
  switch (answer) {
    case "run":
      return undefined;
    case "outrun":
      // Another worker has the job. The store will say so, too.
      return { kind: "release", afterMs: 0 };
    case "already_running":
    case "already_completed": {
      const result: SkippedResult = { skipped: answer };
      return { kind: "succeed", result: JSON.stringify(result), resultDropped: false };
    }
  }
}

function lockAfter(lock: LockRecord, { kind }: Outcome): LockRecord | null {
  switch (kind) {
    case "succeed":
      return { ...lock, state: "completed" };
    case "retry":
    case "die":
      return { ...lock, state: "failed" };
    case "snooze":
    case "release":
    case "cancel":
      return null;
  }
}

function isBy(found: VersionedLock | null, claim: LockRecord): found is VersionedLock {
  return found?.lock.jobId === claim.jobId && found.lock.fence === claim.fence;
}
