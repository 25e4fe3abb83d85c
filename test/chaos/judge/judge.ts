/** The verdict: from what the processes saw and what the store holds at the end, all rules at once. */
import type { StoredJob } from "../../../packages/holdfast/src/core/job.ts";
import type { WitnessLine } from "../witness.ts";
import { judgeCounters, type Counters } from "./counters.ts";
import { judgeDuplicated, type Duplicated } from "./duplicated.ts";
import { judgeEnqueued, type Enqueued } from "./enqueued.ts";
import { gatherEvidence, type Finding } from "./evidence.ts";
import { judgeHealed, type Healed } from "./healed.ts";
import { judgeKept } from "./kept.ts";
import { judgeProcesses, type Processes } from "./processes.ts";
import { judgeReaping } from "./reaping.ts";
import { judgeRecovery, type Recovery } from "./recovery.ts";
import { judgeStale, type Stale } from "./stale.ts";
import { measureWaits, type Waits } from "./waits.ts";

export interface CaseFile {
  readonly lines: readonly WitnessLine[];
  /** Every job of the store, after the drain. */
  readonly stored: readonly StoredJob[];
  /** What the store's own check found wrong. */
  readonly damage: readonly string[];
  readonly leaseMs: number;
  /** How soon a killed worker's jobs must be leasable. */
  readonly recoveryMs: number;
  /** How soon every worker must take a new job after it can reach the store again. */
  readonly healMs: number;
  /** How long the server keeps a transaction open whose client is gone. */
  readonly transactionMs: number;
  readonly forgiveStalls: boolean;
}

export interface Verdict {
  readonly enqueued: Enqueued;
  readonly duplicated: Duplicated;
  readonly stale: Stale;
  readonly counters: Counters;
  readonly recovery: Recovery;
  readonly healed: Healed;
  readonly processes: Processes;
  readonly waits: Waits;
  /** Empty: everything that was promised was kept. */
  readonly findings: readonly Finding[];
}

export function judge(file: CaseFile): Verdict {
  const evidence = gatherEvidence(file.lines, file);
  const enqueued = judgeEnqueued(evidence);
  const duplicated = judgeDuplicated(evidence, file);
  const stale = judgeStale(evidence);
  const counters = judgeCounters(evidence, file);
  const recovery = judgeRecovery(evidence, {
    boundMs: file.recoveryMs,
    transactionMs: file.transactionMs,
  });
  const healed = judgeHealed(evidence, { boundMs: file.healMs });
  const processes = judgeProcesses(evidence);
  const damage = file.damage.map((text): Finding => ({ rule: "store damaged", text }));
  const parts = [enqueued, duplicated, stale, counters, recovery, healed, processes];
  const others = [...judgeKept(evidence), ...judgeReaping(evidence), ...damage];
  const findings = [...parts.flatMap((part) => part.findings), ...others];
  const waits = measureWaits(evidence);
  return { enqueued, duplicated, stale, counters, recovery, healed, processes, waits, findings };
}
