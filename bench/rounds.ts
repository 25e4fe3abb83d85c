/** Takes turns: every variant once, then every variant again. Order matters: neighbours in time are compared. */
import type { StoreName } from "./contenders/index.ts";
import type { Places } from "./places.ts";
import type { Metrics, Prefill, Scenario, Size } from "./scenario.ts";
import { runTask } from "./task.ts";

export interface Rounds {
  readonly scenario: Scenario;
  readonly rounds: number;
  /** By variant, then by round. */
  readonly samples: ReadonlyMap<string, readonly Metrics[]>;
  readonly tookMs: number;
}

export interface RoundsOptions {
  readonly store: StoreName;
  readonly size: Size;
  readonly places: Places;
  /** Names of contenders that take part. */
  readonly present: ReadonlySet<string>;
  readonly onProgress: (text: string) => void;
}

export async function runRounds(scenario: Scenario, options: RoundsOptions): Promise<Rounds> {
  const { store, size, places, present, onProgress } = options;
  const beganAt = performance.now();
  const rounds = Math.min(size.rounds, scenario.mostRounds ?? size.rounds);
  const variants = scenario.variants(size).filter(({ contender }) => present.has(contender));
  const samples = new Map<string, Metrics[]>(variants.map(({ label }) => [label, []]));
  for (const { contender, prefill } of variants) {
    if (!prefill) continue;
    onProgress(`${scenario.name}: filling ${jobsIn(prefill)} jobs in`);
    await places.master(contender, prefill);
  }
  for (let round = 1; round <= rounds; round++) {
    for (const variant of variants) {
      onProgress(`${scenario.name}: round ${round} of ${rounds}, ${variant.label}`);
      const { label, contender, prefill } = variant;
      const metrics = await runTask({
        kind: "measure",
        store,
        scenario: scenario.name,
        variant: label,
        size,
        address: places.address,
        master: prefill ? await places.master(contender, prefill) : null,
      });
      samples.get(label)?.push(metrics);
    }
  }
  await places.clear();
  return { scenario, rounds, samples, tookMs: performance.now() - beganAt };
}

function jobsIn({ ready, held, delayed = 0, finished = 0, queues = 0, past }: Prefill): number {
  const others = (held?.jobs ?? 0) + delayed + finished + queues;
  return ready + others + (past ? past.dead + past.newer : 0);
}
