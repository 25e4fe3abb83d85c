/** Every attempt that failed has exactly one entry in the ledger: stored with its outcome, and never once more. */
import type { FailureBody } from "../../../packages/holdfast/src/core/ledger.ts";
import { isHolder } from "../facts/holder.ts";
import type { Court, Watcher } from "../watcher.ts";

export function oneEntryPerFailure({ book, control, complain }: Court): Watcher {
  const name = "every failed attempt has one entry";
  if (!control) return {};
  return {
    settled({ id, fence, outcome, entries = [] }, result) {
      if (result !== "settled" || !isHolder(book.jobs.get(id), fence)) return;
      const isFailed = outcome.kind === "retry" || outcome.kind === "die";
      const count = entries.filter(({ kind }) => kind === "failure").length;
      if (count === (isFailed ? 1 : 0)) return;
      complain(name, `"${outcome.kind}" comes with ${count} entries of failures`, id);
    },
    ledgerLooked(entries) {
      const seen = new Set<string>();
      for (const { kind, jobId, body } of entries) {
        if (kind !== "failure") continue;
        const attempt = `${jobId} ${(JSON.parse(body) as FailureBody).fence}`;
        if (seen.has(attempt)) complain(name, "one failure has two entries", jobId ?? undefined);
        seen.add(attempt);
      }
    },
  };
}
