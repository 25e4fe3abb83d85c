/** Counts what is worth knowing of a run: a simulation in which nothing happened proves nothing. */
import { isHolder } from "./facts/holder.ts";
import type { Book } from "./facts/book.ts";
import type { Tally } from "./tally.ts";
import type { Watcher } from "./watcher.ts";

export function tallies(tally: Tally, book: Book): Watcher {
  return {
    inserted(_job, { outcome }) {
      tally.count(outcome === "added" ? "jobs" : `inserts: ${outcome}`);
    },
    leased({ exhausted }) {
      tally.count("leases");
      if (exhausted) tally.count("leases of exhausted jobs");
    },
    renewed(_renewal, result) {
      tally.count(`renewals: ${result}`);
    },
    settled({ id, fence, outcome, spawn = [] }, result) {
      if (result === "lost") return tally.count("stale settles refused");
      if (!isHolder(book.jobs.get(id), fence)) return tally.count("settles repeated");
      tally.count("jobs", spawn.length);
      tally.count("jobs spawned", spawn.length);
      const isUnrun = outcome.kind === "die" && !outcome.ran;
      tally.count(`outcomes: ${isUnrun ? outcome.reason : outcome.kind}`);
      const isSkipped = outcome.kind === "succeed" && outcome.result?.includes('"skipped"');
      if (isSkipped) tally.count("jobs skipped by their lock");
    },
    reaped({ charged }) {
      tally.count("leases reaped");
      if (!charged) tally.count("leases reaped uncharged");
    },
    disowned(_request, taken) {
      tally.count("names disowned");
      tally.count("leases disowned", taken.length);
    },
    operated(_id, { verb }, result) {
      if (result !== "missing") tally.count(`operator: ${verb} ${result}`);
    },
    swapped({ key, value }) {
      const state = key.startsWith("holdfast/gates/state/crm") ? value : null;
      const breaker = state === null ? null : /"state":"(open|half-open)"/.exec(state)?.[1];
      if (breaker) tally.count(`breaker: ${breaker}`);
    },
    ranLockless() {
      tally.count("jobs that ran without their lock");
    },
    pruned(gone) {
      tally.count("jobs pruned", gone.length);
    },
    handlerStarted() {
      tally.count("handler runs");
    },
    stepStarted() {
      tally.count("step bodies run");
    },
    saved() {
      tally.count("checkpoints saved");
    },
    refused() {
      tally.count("enqueues refused");
    },
    waitedFor() {
      tally.count("jobs waited for");
    },
  };
}
