/**
 * Graceful end of a process: the first SIGTERM or SIGINT closes (running jobs finish or are handed
 * back), a second one exits at once. Never installed unless asked: signals belong to the program.
 */
import { InvalidOptionError } from "../core/errors.ts";
import { checkGrace } from "../core/option-checks.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export interface Closable {
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Returns the way to take it back. */
export function closeOnSignals(
  target: Closable,
  options: { readonly graceMs?: number } = {},
): () => void {
  if (typeof (target as Partial<Closable> | null | undefined)?.close !== "function") {
    throw new InvalidOptionError("closeOnSignals takes a Holdfast: closeOnSignals(hf)");
  }
  checkGrace("closeOnSignals", options);
  let closing = false;
  const onSignal = (signal: NodeJS.Signals) => {
    const code = signal === "SIGINT" ? 130 : 143;
    if (closing) process.exit(code);
    closing = true;
    target.close(options).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error("holdfast: closing failed", error);
        process.exit(code);
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
