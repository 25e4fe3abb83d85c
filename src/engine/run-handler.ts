/**
 * Runs one handler to its end: it returns, it throws, or its signal aborted and it was given its
 * five seconds. After those the job is settled without it; its slot stays taken until its promise
 * ends, since code that still runs still costs.
 */
import type { HoldfastError } from "../core/errors.ts";
import type { Attempt } from "./attempt.ts";
import { runAs } from "./current-attempt.ts";
import type { Handler } from "./registry.ts";
import type { RunningJob } from "./running-job.ts";
import type { Runtime, Timer } from "./runtime.ts";

/** How long a handler may take to notice that its signal aborted. */
export const ABORT_PATIENCE_MS = 5_000;

export type Ending =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "abandoned"; readonly reason: HoldfastError };

export interface HandlerRun {
  /** How it ended, at the latest five seconds after its signal aborted. */
  readonly ending: Promise<Ending>;
  /** When its promise ended: its slot is free. */
  readonly ended: Promise<unknown>;
}

export function runHandler(
  attempt: Attempt,
  job: RunningJob,
  options: { readonly handler: Handler; readonly runtime: Runtime },
): HandlerRun {
  const ended: Promise<Ending> = runAs(attempt, async () => options.handler(job)).then(
    (value): Ending => ({ kind: "returned", value }),
    (error: unknown): Ending => ({ kind: "threw", error }),
  );
  const ending = new Promise<Ending>((resolve) => {
    let patience: Timer | null = null;
    const abandon = (reason: HoldfastError) => {
      patience ??= options.runtime.timer(ABORT_PATIENCE_MS, () =>
        resolve({ kind: "abandoned", reason: attempt.abortReason ?? reason }),
      );
    };
    if (attempt.abortReason) abandon(attempt.abortReason);
    attempt.onAbort = abandon;
    void ended.then((how) => {
      patience?.cancel();
      attempt.onAbort = null;
      resolve(how);
    });
  });
  return { ending, ended };
}
