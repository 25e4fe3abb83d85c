/** Waits for the worst moment. */
import { lastWitness, monotonicMs } from "./witness.ts";

/** How long to lie in wait for a process that has asked and not been answered. */
const AMBUSH_MS = 1_000;

/** Until a process has asked the store and not been answered: there the outcome is unknown. */
export async function lieInWait(folder: string, file: string): Promise<void> {
  const until = monotonicMs() + AMBUSH_MS;
  const isAsking = () => {
    const what = lastWitness(folder, file)?.what;
    return what === "try" || what === "settling";
  };
  while (!isAsking() && monotonicMs() < until) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
