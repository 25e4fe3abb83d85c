/** The verdict: from what the processes saw and what the store holds at the end, all rules at once. */
import type { StoredJob } from "../../../src/core/job.ts";
import type { WitnessLine } from "../witness.ts";
import { judgeCounters, type Counters } from "./counters.ts";
import { judgeDuplicated, type Duplicated } from "./duplicated.ts";
import { judgeEnqueued, type Enqueued } from "./enqueued.ts";
import { gatherEvidence, type Finding } from "./evidence.ts";
import { judgeKept } from "./kept.ts";
import { judgeProcesses, type Processes } from "./processes.ts";
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
  readonly forgiveStalls: boolean;
}

export interface Verdict {
  readonly enqueued: Enqueued;
  readonly duplicated: Duplicated;
  readonly stale: Stale;
  readonly counters: Counters;
  readonly recovery: Recovery;
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
  const recovery = judgeRecovery(evidence, { boundMs: file.recoveryMs });
  const processes = judgeProcesses(evidence);
  const damage = file.damage.map((text): Finding => ({ rule: "store damaged", text }));
  const parts = [enqueued, duplicated, stale, counters, recovery, processes];
  const findings = [...parts.flatMap((part) => part.findings), ...judgeKept(evidence), ...damage];
  const waits = measureWaits(evidence);
  return { enqueued, duplicated, stale, counters, recovery, processes, waits, findings };
}
