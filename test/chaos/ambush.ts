/** Waits for the worst moment. */
import { lastWitness, lastWitnesses, monotonicMs, type Saw } from "./witness.ts";

/** How long to lie in wait for a process that has asked and not been answered. */
const AMBUSH_MS = 1_000;

/** There the outcome is unknown: the store was asked, and has not answered. */
const ASKING: readonly Saw["what"][] = ["try", "settling"];

/** Until a process is there, or it takes too long. */
export async function lieInWait(folder: string, file: string): Promise<void> {
  const until = monotonicMs() + AMBUSH_MS;
  const isAsking = () => {
    const what = lastWitness(folder, file)?.what;
    return what !== undefined && ASKING.includes(what);
  };
  while (!isAsking() && monotonicMs() < until) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The first of these processes that commits a transaction from now on; null if it takes too long. */
export async function firstToCommit<Some extends { readonly file: string }>(
  folder: string,
  processes: readonly Some[],
): Promise<Some | null> {
  const since = monotonicMs();
  while (monotonicMs() < since + AMBUSH_MS) {
    for (const process of processes) {
      const lines = lastWitnesses(folder, process.file);
      if (lines.some(({ what, at }) => what === "committed" && at > since)) return process;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return null;
}
