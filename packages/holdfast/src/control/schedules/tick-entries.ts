/** Ticks on record: an entry each in the ledger, and what became of its job once that is known. */
import type { LedgerEntry } from "../../core/ledger.ts";
import { SCHEDULE_TAG } from "../../core/lineage.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { ScheduledJob, Tick, TickState } from "../../core/schedule.ts";
import { derivedUuid, type AttemptView, type ExtensionHost } from "../../engine/extension.ts";

export const TICK = "tick";
/** Outcomes are gathered for so long, and are tried again after it while the entry is still on its way. */
const GATHER_MS = 200;
const AGAIN_MS = 5_000;
const TRIES = 5;
const MOST_AT_ONCE = 100;
/** So many wait at most; an older one is found by its job, as long as that is kept. */
const MOST_WAITING = 10_000;

export type RunOutcome = "succeeded" | "dead" | "cancelled";

/** The body of a tick's entry. */
export interface TickBody {
  readonly schedule: string;
  readonly tick: number;
  /** An operator wanted it now. */
  readonly isManual: boolean;
  readonly by: string | null;
  readonly reason: string | null;
  /** Null: not known here yet. */
  readonly outcome: RunOutcome | null;
  readonly error: string | null;
  readonly ranMs: number | null;
}

/** By what fired it, so that a process that carries on writes the same entry. */
export function tickEntryId(schedule: string, { at, jobId }: Pick<Tick, "at" | "jobId">): string {
  return jobId === null ? derivedUuid(TICK, schedule, at) : entryIdOfJob(jobId);
}

function entryIdOfJob(jobId: string): string {
  return derivedUuid(TICK, jobId);
}

export function tickEntry(
  schedule: string,
  job: ScheduledJob,
  tick: Tick & {
    readonly isManual?: boolean;
    readonly by?: string | null;
    readonly reason?: string | null;
  },
): LedgerEntry {
  const { at, state, jobId, error = null, isManual = false, by = null, reason = null } = tick;
  const body: TickBody = {
    ...{ schedule, tick: at, isManual, by, reason, outcome: null, error, ranMs: null },
  };
  return {
    ...{ id: tickEntryId(schedule, tick), kind: TICK, jobId, type: job.type, queue: job.queue },
    ...{ group: job.group || null, category: null, fingerprint: schedule, company: null },
    ...{ isFinal: null, state: state satisfies TickState, body: JSON.stringify(body), at },
  };
}

interface Known {
  readonly id: string;
  readonly outcome: RunOutcome;
  readonly error: string | null;
  readonly ranMs: number;
  tries: number;
}

/**
 * Writes outcomes beside the ticks, in the background. What is lost with a process is found by `runs` in the job
 * itself, for as long as that is kept.
 */
export class TickOutcomes {
  readonly #host: ExtensionHost;
  #waiting: Known[] = [];
  #isFlushing = false;

  constructor(host: ExtensionHost) {
    this.#host = host;
  }

  ended(attempt: AttemptView, outcome: Outcome | null, ranMs: number): void {
    if (!attempt.tags.some((tag) => tag.startsWith(SCHEDULE_TAG))) return;
    const how = outcome && outcomeOf(outcome);
    if (!how) return;
    this.#waiting.push({ id: entryIdOfJob(attempt.id), ...how, ranMs, tries: 0 });
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    this.#flushIn(GATHER_MS);
  }

  #flushIn(ms: number): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#host.runtime.timer(ms, () => void this.#flush(), { background: true });
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0, MOST_AT_ONCE);
    let left = batch;
    try {
      const missing = new Set(await this.#amend(batch));
      left = batch.filter(({ id }) => missing.has(id));
    } catch (error) {
      this.#host.logger.debug("outcomes of ticks could not be written yet", { error });
    }
    for (const known of left) if ((known.tries += 1) < TRIES) this.#waiting.push(known);
    this.#isFlushing = false;
    if (this.#waiting.length > 0) this.#flushIn(left.length > 0 ? AGAIN_MS : 0);
  }

  /** Answers those whose entry is not there. */
  async #amend(batch: readonly Known[]): Promise<string[]> {
    const { ledger } = this.#host;
    const ids = batch.map(({ id }) => id);
    const { entries } = await ledger((book) => book.read({ ids }, { limit: ids.length }));
    const found = new Map(entries.map((entry) => [entry.id, entry]));
    const amendments = batch.flatMap(({ id, outcome, error, ranMs }) => {
      const entry = found.get(id);
      if (!entry) return [];
      const body = JSON.parse(entry.body) as TickBody;
      return [{ id, body: JSON.stringify({ ...body, outcome, error, ranMs }) }];
    });
    if (amendments.length > 0) await ledger((book) => book.amend(amendments));
    return ids.filter((id) => !found.has(id));
  }
}

/** Null: it will be tried again. */
function outcomeOf(outcome: Outcome): Pick<Known, "outcome" | "error"> | null {
  switch (outcome.kind) {
    case "succeed":
      return { outcome: "succeeded", error: null };
    case "die":
      return { outcome: "dead", error: outcome.failure.message };
    case "cancel":
      return { outcome: "cancelled", error: outcome.reason };
    default:
      return null;
  }
}
