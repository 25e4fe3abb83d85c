/**
 * Work is done by processes with a worker. Where no live one can do it, this process lends itself. A worker that was
 * killed is on record for twenty seconds: so it is asked again for as long as the work lasts.
 */
import type { FleetWorker, Holdfast } from "holdfast";

const LOOK_MS = 2_000;

export interface Lending {
  /** Does this worker do what is to be done? */
  readonly isServed: (worker: FleetWorker) => boolean;
  readonly queue: string;
  readonly onLent: () => void;
}

/** Resolves when it was looked for the first time, to the way to stop looking. */
export async function lendWorker(hf: Holdfast, lending: Lending): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    if ((await hf.workers.list()).some(lending.isServed)) return again();
    if (isOver) return;
    await hf.work({ queues: [lending.queue], concurrency: 1 });
    lending.onLent();
  };
  const again = (): void => {
    if (isOver) return;
    // Who follows the work hears of a store that is away.
    timer = setTimeout(() => void look().catch(again), LOOK_MS);
    timer.unref();
  };
  await look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
