/** One run of a handler, and what it may do next: work, say something, spawn, settle by itself, end. */
import { PermanentError, RetryAfterError } from "../../packages/holdfast/src/core/errors.ts";
import type { RunningJob } from "../../packages/holdfast/src/engine/run/running-job.ts";
import { sleep, type Runtime } from "../../packages/holdfast/src/engine/runtime.ts";
import { CONTRACTS, KINDS, QUEUES } from "./contracts.ts";
import type { Draw } from "./draw.ts";
import type { Judge } from "./judge.ts";
import type { Tally } from "./tally.ts";
import type { SimTransaction } from "./transaction.ts";
import type { Run } from "./watcher.ts";

export interface HandlerHost {
  readonly draw: Draw;
  readonly judge: Judge;
  readonly leaseMs: number;
  readonly isCalm: () => boolean;
  /** Is the other side down that jobs behind a breaker call? */
  readonly isDown: () => boolean;
  /** Milliseconds of virtual time. */
  readonly now: () => number;
  /** When the last outage that was longer than a lease ended. */
  readonly outageEndedAt: () => number | null;
  readonly tally: Tally;
  readonly process: {
    readonly name: string;
    readonly runtime: Runtime;
    readonly isAlive: boolean;
    /** It has just been frozen, and its timers have not all spoken yet. */
    readonly isWaking: boolean;
    kill(run: Run): void;
    transaction(run: Run): SimTransaction;
  };
  readonly note: (text: string, jobId: string) => void;
}

export type Action =
  "pause" | "nap" | "sleep" | "marathon" | "step" | "save" | "progress" | "log" | "spawn";
export type Way = "commit" | "commitLater" | "rollBackAndGoOn" | "rollBackAndThrow" | "leaveOpen";
export type Ending =
  "return" | "throw" | "permanent" | "retryAfter" | "snooze" | "cancel" | "network";

export class Doing {
  readonly #job: RunningJob;
  readonly #run: Run;
  readonly #host: HandlerHost;
  readonly #isStubborn: boolean;
  readonly #startedAt: number;
  #hasOutlasted = false;
  #steps = 0;
  #saved: number;

  constructor(job: RunningJob, run: Run, host: HandlerHost, isStubborn: boolean) {
    this.#job = job;
    this.#run = run;
    this.#host = host;
    this.#isStubborn = isStubborn;
    this.#startedAt = host.now();
    this.#saved = (job.checkpoint as { readonly n: number } | undefined)?.n ?? 0;
  }

  async act(action: Action): Promise<void> {
    const { draw, leaseMs } = this.#host;
    const job = this.#job;
    this.#show();
    switch (action) {
      case "pause":
        return this.rest(draw.between(0, 30));
      case "nap":
        return this.rest(draw.between(50, 1_500));
      case "sleep":
        return this.rest(draw.between(0.3, 2) * leaseMs);
      case "marathon":
        // Outlasts its lease, and with luck an outage.
        return this.rest(draw.between(1.5, 5) * leaseMs);
      case "step":
        return this.#step(`s${(this.#steps += 1)}`);
      case "save":
        // Several in a row: one that was given up may arrive after the next.
        for (let left = 3; left > 0; left -= 1) await this.#save();
        return;
      case "progress":
        return job.progress(draw.whole(0, 100));
      case "log":
        return job.log(`line ${draw.whole(0, 9)}`);
      case "spawn":
        return this.#spawn();
    }
  }

  async #save(): Promise<void> {
    const n = this.#saved + 1;
    await this.#job.save({ n });
    this.#saved = n;
    this.#host.judge.tell((watcher) => watcher.saved?.(this.#run, n));
  }

  end(ending: Ending): unknown {
    this.#show();
    const { draw } = this.#host;
    switch (ending) {
      case "return":
        return { done: this.#run.fence };
      case "throw":
        throw new Error("simulated failure");
      case "permanent":
        throw new PermanentError("simulated permanent failure");
      case "retryAfter":
        throw new RetryAfterError(draw.whole(0, 3_000));
      case "snooze":
        return this.#job.snooze(draw.whole(0, 3_000));
      case "cancel":
        return this.#job.cancel("simulated");
      case "network":
        throw Object.assign(new Error("simulated reset"), { code: "ECONNRESET" });
    }
  }

  /** Settles in a transaction of its own, and then does not always commit it. */
  async transact(way: Way): Promise<unknown> {
    const { draw, leaseMs, process, judge } = this.#host;
    const tx = process.transaction(this.#run);
    let isLeftOpen = false;
    try {
      judge.tell((watcher) => watcher.transaction?.(this.#run, "opened"));
      await this.#job.settleWithin(tx, { result: { done: this.#run.fence } });
      switch (way) {
        case "commit":
          await tx.commit();
          break;
        case "commitLater":
          await this.rest(draw.between(0, 1.5) * leaseMs);
          await tx.commit();
          break;
        case "rollBackAndGoOn":
          if (draw.chance(0.3)) await this.rest(draw.between(0, 1) * leaseMs);
          tx.rollback();
          for (let left = draw.whole(0, 3); left > 0; left -= 1) {
            await this.act(draw.weighted({ pause: 1, sleep: 2, marathon: 1, step: 1, save: 1 }));
          }
          if (draw.chance(0.3)) return await this.transact("commit");
          break;
        case "rollBackAndThrow":
          if (draw.chance(0.3)) await this.rest(draw.between(0, 1.5) * leaseMs);
          tx.rollback();
          judge.tell((watcher) => watcher.threwPermanent?.(this.#run));
          throw new PermanentError("simulated failure after a rollback");
        case "leaveOpen":
          isLeftOpen = true;
          void this.#endLater(tx);
          break;
      }
      return { done: this.#run.fence };
    } finally {
      // As every library does it for a callback that throws.
      if (!isLeftOpen && tx.isOpen) tx.rollback();
    }
  }

  /** Not after the engine has stopped waiting for it. */
  async #endLater(tx: SimTransaction): Promise<void> {
    const { draw, process } = this.#host;
    await sleep(process.runtime, draw.between(0, 3_000));
    if (draw.chance(0.5)) tx.rollback();
    else await tx.commit().catch(() => {});
  }

  /** Ends early when the signal aborts, unless the handler does not listen. */
  async rest(ms: number): Promise<void> {
    const { signal } = this.#job;
    const rested = sleep(this.#host.process.runtime, ms).then(() => this.#countOutage());
    if (this.#isStubborn) return rested;
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(signal.reason as Error);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      void rested.then(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      });
    });
    this.#show();
  }

  async #step(name: string): Promise<void> {
    const { judge, draw } = this.#host;
    const value = await this.#job.step(name, async () => {
      judge.tell((watcher) => watcher.stepStarted?.(this.#run, name));
      if (draw.chance(0.5)) await this.rest(draw.between(0, 300));
      return `${name} by ${this.#run.fence}`;
    });
    judge.tell((watcher) => watcher.stepEnded?.(this.#run, name, value));
  }

  async #spawn(): Promise<void> {
    const { judge, draw } = this.#host;
    const kind = draw.pick(KINDS.filter((one) => one !== "killer" && one !== "parent"));
    const id = await this.#job.spawn(
      CONTRACTS[kind],
      { of: this.#run.fence },
      {
        ...(draw.chance(0.5) && { queue: draw.pick(QUEUES) }),
        ...(draw.chance(0.3) && {
          idempotencyKey: `child-${draw.whole(1, 5)}`,
          onConflict: "return",
        }),
        ...(draw.chance(0.3) && { delayMs: draw.whole(0, 3_000) }),
      },
    );
    judge.tell((watcher) => watcher.spawned?.(this.#run, id));
  }

  #countOutage(): void {
    const { outageEndedAt, tally } = this.#host;
    if (this.#hasOutlasted || (outageEndedAt() ?? 0) <= this.#startedAt) return;
    this.#hasOutlasted = true;
    tally.count("handlers that outlasted a long outage");
  }

  #show(): void {
    const { judge, process } = this.#host;
    // Right after a freeze the timer that tells it may still be waiting for its turn.
    if (process.isWaking) return;
    const isAborted = this.#job.signal.aborted;
    judge.tell((watcher) => watcher.acted?.(this.#run, isAborted));
  }
}
