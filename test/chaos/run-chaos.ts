/** One run: a store in a temporary folder, the chaos on it, the verdict, and nothing left behind. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Chaos, type Progress } from "./chaos.ts";
import type { ChaosOptions } from "./chaos-options.ts";
import { chaosStore } from "./chaos-store.ts";
import { Fleet } from "./fleet.ts";
import { judge, type Verdict } from "./judge/judge.ts";
import { Network } from "./network.ts";
import { miscounted, readStore } from "./stored-jobs.ts";
import { monotonicMs, readWitnesses, Witness } from "./witness.ts";

export interface ChaosRun {
  readonly verdict: Verdict;
  readonly tookMs: number;
  /** What the store says it is. */
  readonly version: string;
  /** Where everything is, if it was kept. */
  readonly folder: string | null;
}

export async function runChaos(
  options: ChaosOptions,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ChaosRun> {
  const beganAt = monotonicMs();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
  let isKept = options.keep;
  const removeFolder = () => {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  };
  process.on("exit", removeFolder);
  const kind = await chaosStore(options.store);
  const started = await kind.start(folder);
  const store = kind.open(started.url);
  const network = new Network(started);
  const witness = new Witness(folder, { by: "harness" });
  const fleet = new Fleet(folder, witness);
  try {
    await store.open();
    const parts = { options, folder, started, store, witness, fleet, network, onProgress };
    await new Chaos(parts).run();
    // By one that has lived through nothing: what is wrong with ours must not keep us from looking.
    const fresh = kind.open(started.url);
    await fresh.open();
    const { stored, version } = await readStore(fresh);
    const damage = [...(await started.integrity()), ...(await miscounted(fresh, stored))];
    await fresh.close();
    const verdict = judge({ lines: readWitnesses(folder), stored, damage, ...options });
    const tookMs = monotonicMs() - beganAt;
    // The same seed need not bring a finding back: what the processes saw is worth keeping.
    isKept ||= verdict.findings.length > 0;
    return { verdict, tookMs, version, folder: isKept ? folder : null };
  } finally {
    await fleet.close();
    await network.closeAll();
    await store.close();
    await started.stop();
    witness.close();
    removeFolder();
    process.off("exit", removeFolder);
  }
}
