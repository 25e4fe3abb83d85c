/** Runs a world through storms and calms for so many steps, or until a promise is broken. */
import { memoryBacking, type MakeBacking } from "./backing.ts";
import { calm } from "./calm.ts";
import { storm } from "./storm.ts";
import type { Violation } from "./violation.ts";
import { World, type TamperEngine } from "./world.ts";

/** Long enough for trouble to meet trouble, short enough that the end is proved often. */
const STORM_STEPS = 8_000;

export interface SimulationOptions {
  readonly seed: number;
  readonly steps: number;
  /** Default: the memory store. */
  readonly makeBacking?: MakeBacking;
  readonly tamperEngine?: TamperEngine;
  /** With a ledger, locks, operations and gates. Default: a plain world. */
  readonly isUnderControl?: boolean;
  readonly sample?: number;
  readonly stormSteps?: number;
  /** Called after each storm and its calm. */
  readonly onProgress?: (progress: { readonly steps: number; readonly virtualMs: number }) => void;
}

export interface SimulationReport {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly violation: Violation | null;
  /** Of the whole trace: equal for equal seeds. */
  readonly hash: string;
  readonly counts: readonly (readonly [what: string, count: number])[];
  /** The last lines about the job concerned; empty if all is well. */
  readonly lastLines: readonly string[];
}

export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, steps, stormSteps = STORM_STEPS, onProgress } = options;
  const world = await World.open({
    seed,
    makeBacking: options.makeBacking ?? memoryBacking(),
    sample: options.sample ?? 0.1,
    isUnderControl: options.isUnderControl ?? false,
    ...(options.tamperEngine && { tamperEngine: options.tamperEngine }),
  });
  const onUnheard = (reason: unknown) => {
    const what = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    world.complain("the engine leaves no error unheard", what);
  };
  process.on("unhandledRejection", onUnheard);
  const taken = () => world.tally.of("steps");
  try {
    for (let number = 1; taken() < steps && !world.violation; number += 1) {
      await storm(world, { number, steps: Math.min(stormSteps, steps - taken()) });
      await calm(world);
      onProgress?.({ steps: taken(), virtualMs: world.virtualMs });
    }
  } finally {
    process.off("unhandledRejection", onUnheard);
    await world.backing.close();
  }
  const { violation } = world;
  return {
    seed,
    steps: taken(),
    virtualMs: world.virtualMs,
    violation,
    hash: world.trace.hash,
    counts: world.tally.entries(),
    lastLines: violation ? world.trace.last(40, violation.jobId ?? undefined) : [],
  };
}
