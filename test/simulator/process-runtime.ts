/**
 * The runtime of one simulated process: virtual time that stops reaching it while it is frozen, and
 * ends with it; chance of its own; a wall clock that may be wrong and may jump.
 */
import { uuidV7 } from "../../packages/holdfast/src/core/uuid.ts";
import type { Runtime } from "../../packages/holdfast/src/engine/runtime.ts";
import { randomBytesFrom } from "../../packages/holdfast/src/testing/seeded-random.ts";
import type { VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";
import type { Draw } from "./draw.ts";
import type { Listener } from "./wire.ts";

export interface ProcessRuntimeOptions {
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly process: Listener;
  /** How wrong its wall clock is. */
  readonly skewMs: () => number;
}

export function processRuntime(options: ProcessRuntimeOptions): Runtime {
  const { time, draw, process, skewMs } = options;
  const base = time.runtime();
  const wallClock = () => Math.floor(time.now + skewMs());
  let workers = 0;
  return {
    monotonic: () => base.monotonic(),
    wallClock,
    timer(ms, callback) {
      // A timer that came due in the freeze can still be cancelled by what runs before it.
      let isCancelled = false;
      const run = () => {
        if (!isCancelled) callback();
      };
      const timer = base.timer(ms, () => process.hear(run));
      return {
        cancel: () => {
          isCancelled = true;
          timer.cancel();
        },
      };
    },
    defer: (callback) => base.defer(() => process.hear(callback)),
    random: draw.random,
    id: () => uuidV7(wallClock(), randomBytesFrom(draw.random, 10)),
    workerId: () => `${process.name}/w${(workers += 1)}`,
  };
}

/** Whose worker this is: `p1.2/w1`, or `p1.2/w1.3` after the third lease reply it lost. */
export function processOf(worker: string): string {
  return worker.slice(0, worker.indexOf("/"));
}
