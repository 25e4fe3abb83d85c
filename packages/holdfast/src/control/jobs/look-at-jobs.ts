/**
 * What is to be known of many jobs. The store answers with whole jobs, whose payloads may be a megabyte each: they are
 * read a few at a time, and of each only what is wanted is kept.
 */
import type { StoredJob } from "../../core/job.ts";
import type { JobRef } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";

const AT_ONCE = 50;

/** In the order of the ids. */
export async function lookAtJobs<Out>(
  { jobs }: Pick<ExtensionHost, "jobs">,
  refs: readonly JobRef[],
  view: (job: StoredJob | "pruned" | null) => Out,
): Promise<Out[]> {
  const seen: Out[] = [];
  for (let from = 0; from < refs.length; from += AT_ONCE) {
    const some = await jobs.get(refs.slice(from, from + AT_ONCE));
    seen.push(...some.map(view));
  }
  return seen;
}
