/** One cycle: at most so many jobs of the queue, in their order. What is held is left for the next cycle. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Holdfast } from "holdfast";

export interface CycleResult {
  readonly ran: number;
  readonly failed: number;
}

const LOOK_EVERY_MS = 100;
/** After so many looks at jobs that do not start, something holds them: a pause, a cooldown, an open breaker. */
const LOOKS_IN_VAIN = 20;
/**
 * The end of a cycle is none of a process: what runs has the time of a few slow calls. Cut off after the moments that a
 * process waits at its end, the same jobs would begin in each cycle, and none come to its end.
 */
const ENDS_WITHIN = { graceMs: 120_000 };

/**
 * A worker of its own that takes no more than there may be: once the last of them has started it stops, and what it
 * has leased besides goes back unspent.
 */
export async function runCycle(
  hf: Holdfast,
  options: { readonly queue: string; readonly jobs: number; readonly signal: AbortSignal },
): Promise<CycleResult> {
  const { queue, jobs, signal } = options;
  const own = new Set<string>();
  let failed = 0;
  let open = 0;
  const full = Promise.withResolvers<void>();
  const isOurs = (event: { readonly queue: string }) => event.queue === queue;
  const ended = (event: { readonly id: string; readonly queue: string }) => {
    if (isOurs(event) && own.has(event.id)) open -= 1;
  };
  const stops = [
    hf.on("started", (event) => {
      if (!isOurs(event)) return;
      own.add(event.id);
      open += 1;
      if (own.size >= jobs) {
        full.resolve();
        void worker?.stop(ENDS_WITHIN);
      }
    }),
    hf.on("failed", (event) => {
      if (isOurs(event)) failed += 1;
      ended(event);
    }),
    ...(["succeeded", "cancelled", "snoozed", "released", "lost"] as const).map((name) =>
      hf.on(name, ended),
    ),
  ];
  let worker: Awaited<ReturnType<typeof hf.work>> | undefined;
  try {
    worker = await hf.work({ queues: [queue], concurrency: jobs });
    // An event may have come before this process knew its worker.
    if (own.size >= jobs) void worker.stop(ENDS_WITHIN);
    let inVain = 0;
    while (!signal.aborted && own.size < jobs && inVain < LOOKS_IN_VAIN) {
      const before = own.size;
      const waiting = await hf.jobs({
        ...{ queue, status: "queued", delayed: false, limit: 1 },
        without: "payloads",
      });
      if (waiting.jobs.length === 0 && open <= 0) break;
      await Promise.race([full.promise, sleep(LOOK_EVERY_MS, undefined, { ref: false })]);
      inVain = open > 0 || own.size > before ? 0 : inVain + 1;
    }
  } finally {
    await worker?.stop();
    for (const stop of stops) stop();
  }
  return { ran: own.size, failed };
}
