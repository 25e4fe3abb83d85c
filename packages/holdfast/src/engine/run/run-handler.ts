/**
 * Runs one handler until its promise ends, whatever else happens: code that still runs still costs,
 * so its slot stays taken. Five seconds after its signal aborted the worker waits for its word no more;
 * `onAbandoned` says so, and what it says later is not heard.
 */
import { JobTimeoutError, type HoldfastError } from "../../core/errors.ts";
import { longTimer, type Runtime, type Timer } from "../runtime.ts";
import type { Attempt } from "./attempt.ts";
import { runAs } from "./current-attempt.ts";
import type { OpenCalls } from "./open-calls.ts";

/** How long a handler may take to notice that its signal aborted. */
export const ABORT_PATIENCE_MS = 5_000;

export type Ending =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown };

export interface RunHandlerOptions {
  readonly handler: () => unknown;
  readonly runtime: Runtime;
  /** Null: as long as it likes. */
  readonly timeoutMs: number | null;
  readonly onAbandoned: (reason: HoldfastError) => void;
  /** Once the handler has ended: null, or what it asked for and has not heard of. */
  readonly openCalls?: () => Pick<OpenCalls, "finish"> | null;
}

export async function runHandler(
  attempt: Attempt,
  { handler, runtime, timeoutMs, onAbandoned, openCalls }: RunHandlerOptions,
): Promise<Ending> {
  const timeout =
    timeoutMs === null
      ? null
      : longTimer(runtime, timeoutMs, () => {
          attempt.abort(new JobTimeoutError(`the handler took longer than its ${timeoutMs} ms`));
        });
  let patience: Timer | null = null;
  attempt.whenAborted((reason) => {
    patience ??= runtime.timer(ABORT_PATIENCE_MS, () => onAbandoned(attempt.abortReason ?? reason));
  });
  let ending: Ending;
  try {
    ending = { kind: "returned", value: await runAs(attempt, handler) };
  } catch (error) {
    ending = { kind: "threw", error };
  }
  try {
    const calls = openCalls?.() ?? null;
    return calls === null ? ending : await calls.finish(ending);
  } finally {
    attempt.whenAborted(() => {});
    timeout?.cancel();
    (patience as Timer | null)?.cancel();
  }
}
