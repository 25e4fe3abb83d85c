/**
 * A producer process: enqueues its share of the jobs, up to the number that the harness tells it on
 * stdin, and writes down what it tries before it tries and what it was told. Killed and started
 * again it goes on where its file ends: what it had tried without an answer is tried again if it
 * has an idempotency key, and is left unknown if not, as a careful caller would do.
 */
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailableError } from "../../packages/holdfast/src/index.ts";
import { beginChild, tellUp, type ChildOptions } from "./child.ts";
import { planJob, type PlannedJob } from "./job-plan.ts";
import { readWitness } from "./witness.ts";

export interface ProducerOptions extends ChildOptions {
  /** It enqueues the jobs from, from + every, … */
  readonly from: number;
  readonly every: number;
  readonly jobs: number;
}

const LOOK_EVERY_MS = 10;
const MOST_AT_ONCE = 50;

const { options, witness, hf } = await beginChild<ProducerOptions>();
let allowed = 0;
createInterface({ input: process.stdin }).on("line", (line) => (allowed = Number(line)));
tellUp();
const todo = remaining();
while (todo.length > 0) {
  const batch: PlannedJob[] = [];
  while (todo.length > 0 && todo[0]! < allowed && batch.length < MOST_AT_ONCE) {
    batch.push(planJob(todo.shift()!, options));
  }
  await enqueue(batch);
  await pause(LOOK_EVERY_MS);
}
await hf.close();
process.exit(0);

function remaining(): number[] {
  const acknowledged = new Set<string>();
  const unknown = new Set<string>();
  for (const line of readWitness(options.folder, options.file)) {
    if (line.what === "try") unknown.add(line.key);
    if (line.what === "acknowledged") acknowledged.add(line.key);
    if (line.what === "refused" && !line.mayHaveHappened) unknown.delete(line.key);
  }
  const indexes: number[] = [];
  for (let index = options.from; index < options.jobs; index += options.every) {
    const { key, isRepeatable } = planJob(index, options);
    if (!acknowledged.has(key) && (isRepeatable || !unknown.has(key))) indexes.push(index);
  }
  return indexes;
}

/** One call each, which the engine gathers; sometimes one call for all that bear to be repeated. */
async function enqueue(batch: readonly PlannedJob[]): Promise<void> {
  const together = batch.length % 3 === 0 ? batch.filter((job) => job.isRepeatable) : [];
  const apart = batch.filter((job) => !together.includes(job));
  await Promise.all([enqueueTogether(together), ...apart.map((job) => enqueueOne(job))]);
}

async function enqueueOne(job: PlannedJob): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    witness.saw({ what: "try", key: job.key });
    try {
      const { id, status } = await hf.enqueue(job.contract, job.payload, job.options);
      if (job.isForgotten && tries === 1) continue;
      witness.saw({ what: "acknowledged", key: job.key, id, answer: status });
      return;
    } catch (error) {
      // Whatever else went wrong, nobody has promised that nothing was stored.
      const mayHaveHappened = !(error instanceof StoreUnavailableError) || error.mayHaveHappened;
      witness.saw({ what: "refused", key: job.key, error: String(error), mayHaveHappened });
      if (mayHaveHappened && !job.isRepeatable) return;
      await pause(100);
    }
  }
}

async function enqueueTogether(batch: readonly PlannedJob[]): Promise<void> {
  if (batch.length === 0) return;
  for (const { key } of batch) witness.saw({ what: "try", key });
  try {
    const items = batch.map((job) => job.contract.of(job.payload, job.options));
    const answers = await hf.enqueueAll(items);
    for (const [at, answer] of answers.entries()) {
      if (answer.status === "refused") throw answer.error;
      const { id, status } = answer;
      witness.saw({ what: "acknowledged", key: batch[at]!.key, id, answer: status });
    }
  } catch (error) {
    // One answer for all of them: some may be stored, and all have a key.
    const saw = { what: "refused", error: String(error), mayHaveHappened: true } as const;
    for (const { key } of batch) witness.saw({ ...saw, key });
    await Promise.all(batch.map((job) => enqueueOne(job)));
  }
}
