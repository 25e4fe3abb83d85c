/** Takes whole jobs from elsewhere into a store, each once however often it is tried. */
import { BATCH_BYTES, BATCH_ITEMS, type AdoptedJob } from "../core/job.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Store } from "../core/store.ts";
import { checkStoreGiven } from "./check-store-given.ts";

/**
 * `there`: a job of this id is there already, and stays as it is. `gone`: it was, and has been removed since.
 * `without key`: another job has its key, so it came without.
 */
export type Adoption = "added" | "there" | "gone" | "without key" | "refused";

/** In the order of the jobs. The store must be open. */
export async function adoptJobs(
  store: Store,
  jobs: readonly AdoptedJob[],
): Promise<readonly Adoption[]> {
  checkStoreGiven("adoptJobs", store);
  checkJobs(jobs);
  const answers: Adoption[] = [];
  for (const batch of batchesOf(jobs)) {
    const results = await store.adopt(batch);
    const keyless: { readonly at: number; readonly job: AdoptedJob }[] = [];
    for (const [at, job] of batch.entries()) {
      const result = results[at];
      const isOwn = result !== undefined && "id" in result && result.id === job.id;
      const place = answers.length;
      if (result?.outcome === "added") answers.push("added");
      else if (result?.outcome === "duplicate" && isOwn) {
        answers.push(result.status === "pruned" ? "gone" : "there");
      } else {
        // The key is another's: a job that was revived after its key went to the next one, for example.
        answers.push("refused");
        if (job.dedupe !== null) keyless.push({ at: place, job: { ...job, dedupe: null } });
      }
    }
    if (keyless.length === 0) continue;
    const again = await store.adopt(keyless.map(({ job }) => job));
    for (const [index, { at }] of keyless.entries()) {
      const outcome = again[index]?.outcome;
      answers[at] =
        outcome === "added" ? "without key" : outcome === "duplicate" ? "there" : "refused";
    }
  }
  return answers;
}

function checkJobs(jobs: unknown): void {
  const isWhole = (job: unknown) => {
    const { id, payload, steps, logs, history } = Object(job) as Record<string, unknown>;
    const isText = typeof id === "string" && typeof payload === "string";
    return isText && [steps, logs, history].every((list) => Array.isArray(list));
  };
  if (Array.isArray(jobs) && jobs.every(isWhole)) return;
  throw new InvalidOptionError("adoptJobs takes a list of whole jobs, as exportJobs yields them");
}

function* batchesOf(jobs: readonly AdoptedJob[]): Generator<readonly AdoptedJob[]> {
  let batch: AdoptedJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const size = sizeOf(job);
    if (batch.length > 0 && (batch.length >= BATCH_ITEMS || bytes + size > BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(job);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** More or less: texts that are no ASCII are rare in JSON of jobs, and the bound has room. */
function sizeOf(job: AdoptedJob): number {
  const { payload, result, checkpoint, meta, steps, logs, history } = job;
  const texts = [payload, result, checkpoint, meta, ...steps.map(({ value }) => value)];
  const lists = [
    ...logs.map(({ text }) => text),
    ...history.flatMap((one) => [one.message, one.stack]),
  ];
  return [...texts, ...lists].reduce((sum, text) => sum + (text?.length ?? 0), 500);
}
