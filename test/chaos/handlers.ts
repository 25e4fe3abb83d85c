/** What the jobs of the chaos do, each writing down that it starts and how it ended. */
import { setTimeout as pause } from "node:timers/promises";
import {
  PermanentError,
  type Handler,
  type Holdfast,
  type Intent,
  type RunningJob,
} from "../../packages/holdfast/src/index.ts";
import * as jobs from "./contracts.ts";
import type { ChaosPayload, ChaosResult } from "./contracts.ts";
import type { ChaosTransactions } from "./chaos-store.ts";
import { settleWithin } from "./settle-within.ts";
import type { Witness } from "./witness.ts";

type ChaosJob = RunningJob<ChaosPayload, ChaosResult>;
/** Returns nothing: the result is the same for all. An intent is returned as it is. */
type Body = (job: ChaosJob) => Promise<Intent | void>;

const STEPS = ["first", "second", "third"];
const ROWS = 4;

export function handleAll(
  hf: Holdfast,
  witness: Witness,
  transactions: ChaosTransactions | null,
): void {
  const handle = (contract: (typeof jobs.CONTRACTS)[number], body: Body) =>
    hf.handle(contract, witnessed(witness, body));
  const takeTime: Body = ({ payload, signal }) => pause(payload.ms, undefined, { signal });

  for (const contract of [jobs.quick, jobs.slow, jobs.long, jobs.spawned, jobs.probe]) {
    handle(contract, takeTime);
  }
  handle(jobs.fragile, takeTime);
  handle(jobs.single, takeTime);
  handle(jobs.stubborn, ({ payload }) => pause(payload.ms));
  handle(jobs.flaky, async (job) => {
    await takeTime(job);
    if (job.attempt <= 2) throw new Error("not yet");
  });
  handle(jobs.hung, (job) =>
    job.attempt === 1 ? pause(60_000, undefined, { signal: job.signal }) : takeTime(job),
  );
  handle(jobs.snoozing, async (job) => {
    await takeTime(job);
    if (job.checkpoint !== undefined) return;
    await save(job, 1);
    return job.snooze(50);
  });
  handle(jobs.stepping, async (job) => {
    for (const step of STEPS) await takeStep(job, step);
  });
  handle(jobs.saving, async (job) => {
    for (let row = rowOf(job) + 1; row <= ROWS; row += 1) {
      await takeTime(job);
      await save(job, row);
    }
  });
  handle(jobs.spawning, async (job) => {
    for (let child = 0; child < jobs.CHILDREN; child += 1) {
      const key = jobs.childKey(job.payload.key, job.fence, child);
      await job.spawn(jobs.spawned, { key, ms: job.payload.ms });
    }
    await takeTime(job);
    // What a failed attempt spawned must not exist.
    if (job.attempt === 1 && job.payload.ms % 2 === 1) throw new Error("not yet");
  });
  for (const contract of [jobs.within, jobs.withinLong]) {
    handle(contract, (job) => settleWithin(job, transactions, witness));
  }
  handle(jobs.doomed, async (job) => {
    await takeTime(job);
    throw new PermanentError("nobody can mend this");
  });

  async function takeStep(job: ChaosJob, step: string): Promise<void> {
    const { id, fence } = job;
    const value = await job.step(step, async () => {
      await takeTime(job);
      witness.saw({ what: "step ran", id, fence, step });
      return fence;
    });
    witness.saw({ what: "step stored", id, fence, step, value });
  }

  async function save(job: ChaosJob, row: number): Promise<void> {
    await job.save({ row });
    witness.saw({ what: "saved", id: job.id, fence: job.fence, row });
  }
}

function rowOf(job: ChaosJob): number {
  return (job.checkpoint as { readonly row: number } | undefined)?.row ?? 0;
}

function witnessed(witness: Witness, body: Body): Handler<ChaosPayload, ChaosResult> {
  return async (job) => {
    const { id, fence, attempt, type, payload } = job;
    witness.saw({ what: "start", id, fence, attempt, type, key: payload.key, row: rowOf(job) });
    try {
      const intent = await body(job);
      witness.saw({ what: "end", id, fence, how: "returned" });
      return intent ?? ({ by: witness.by, fence } satisfies ChaosResult);
    } catch (error) {
      witness.saw({ what: "end", id, fence, how: job.signal.aborted ? "aborted" : "threw" });
      throw error;
    }
  };
}
