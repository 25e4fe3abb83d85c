import type { NewJob } from "./job.ts";

/** How long all texts of a new job are together, in UTF-16 units: what it weighs in a call. */
export function jobLength(job: NewJob): number {
  const { id, queue, group, type, payload, meta, trace, dedupe, tags } = job;
  const texts = [id, queue, group, type, payload, meta ?? "", trace ?? "", ...tags];
  const key = dedupe === null ? 0 : dedupe.key.length + dedupe.hash.length;
  return texts.reduce((sum, text) => sum + text.length, key);
}
