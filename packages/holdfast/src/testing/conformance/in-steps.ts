import assert from "node:assert/strict";
import type { Change, Changes, JobFilter, Target } from "../../core/store.ts";

/** Drives a verb over a frozen filter, step by step, as an operator's tool does. */
export async function inSteps(
  verb: (target: Target) => Promise<Changes>,
  request: { readonly filter: JobFilter; readonly frozenAt: number; readonly limit: number },
): Promise<Change[]> {
  const changes: Change[] = [];
  let cursor: string | null = null;
  for (let steps = 0; steps < 1_000; steps++) {
    const step: Changes = await verb({ ...request, cursor });
    assert.ok(step.changes.length <= request.limit, "a step is never longer than asked");
    changes.push(...step.changes);
    if (step.nextCursor === null) return changes;
    cursor = step.nextCursor;
  }
  return assert.fail("a frozen filter ends");
}
