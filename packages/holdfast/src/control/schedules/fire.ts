/**
 * Fires what is due: claims it in its record, stores its jobs, writes its entries, marks it. Any process may do
 * so, at the same time as others: of several claims one is written. A process that died in between costs ten
 * seconds, after which another carries its claim on; what that inserts again is found by its id.
 */
import { HoldfastError } from "../../core/errors.ts";
import { BATCH_BYTES, BATCH_ITEMS, isFinished, type NewJob } from "../../core/job.ts";
import {
  CLAIM_MS,
  claimed,
  dueAt,
  marked,
  type ScheduleState,
  type Tick,
} from "../../core/schedule.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { readSchedules, writeSchedules, type Versioned } from "./schedule-records.ts";
import { tickJob } from "./schedule-options.ts";
import { tickEntry } from "./tick-entries.ts";
import { tickJobId } from "./tick-id.ts";

interface Fired extends Versioned {
  readonly ticks: readonly Tick[];
}

/** Answers what is known of each now, in the order of the names; null: it is gone. */
export async function fire(
  host: ExtensionHost,
  names: readonly string[],
  now: number,
): Promise<(ScheduleState | null)[]> {
  const readAt = host.runtime.monotonic();
  const isInTime = () => host.runtime.monotonic() - readAt < CLAIM_MS;
  const found = await readSchedules(host.records, names);
  const claims = await claim(host, found, now);
  const latest = new Map(found.map((one) => [one?.state.name, one?.state ?? null]));
  for (const { state } of claims) latest.set(state.name, state);
  // Frozen meanwhile, this process may be the second one at it: it looks again instead.
  if (isInTime()) {
    await cancelPrevious(host, claims);
    const fired = await insert(host, claims, isInTime);
    if (fired.length > 0) {
      await host.record(
        fired.flatMap(({ state, ticks }) =>
          ticks.map((tick) => tickEntry(state.name, jobOf(state), tick)),
        ),
      );
      const written = await writeSchedules(
        host,
        fired.map(({ state, version, ticks }) => ({
          state: marked(state, ticks),
          expect: version,
        })),
      );
      // One that was not written was changed meanwhile: it still has its claim, and is carried on.
      for (const one of written) if (one) latest.set(one.state.name, one.state);
    }
  }
  return names.map((name) => latest.get(name) ?? null);
}

async function claim(
  host: ExtensionHost,
  found: readonly (Versioned | null)[],
  now: number,
): Promise<Versioned[]> {
  const by = host.workers.id;
  const due = found.filter((one): one is Versioned => {
    const at = one && dueAt(one.state, by);
    return at !== null && at <= now;
  });
  const busy = await unfinished(host, due);
  const claims = due.flatMap(({ state, version }) => {
    const isBusy = busy.has(state.name);
    const idOf = (tick: number) => tickJobId(state.name, tick);
    const next = claimed(state, { by, now, isBusy, idOf });
    return next ? [{ state: next, expect: version }] : [];
  });
  return (await writeSchedules(host, claims)).filter((one) => one !== null);
}

/** The names of those whose last job has not finished, where that makes a difference. */
async function unfinished(host: ExtensionHost, due: readonly Versioned[]): Promise<Set<string>> {
  const asked = due.filter(
    ({ state }) =>
      state.claim === null && state.lastJob !== null && state.definition.overlap !== "queue",
  );
  if (asked.length === 0) return new Set();
  const jobs = await host.jobs.get(asked.map(({ state }) => state.lastJob!));
  const isBusy = (at: number) => {
    const job = jobs[at];
    return typeof job === "object" && job !== null && !isFinished(job.status);
  };
  return new Set(asked.filter((_, at) => isBusy(at)).map(({ state }) => state.name));
}

async function cancelPrevious(host: ExtensionHost, claims: readonly Versioned[]): Promise<void> {
  for (const { state } of claims) {
    const ref = state.claim?.cancels;
    if (!ref) continue;
    const reason = `the next tick of schedule ${state.name} is due`;
    await host.jobs.cancel({ ids: [ref] }, { reason, by: `schedule ${state.name}` });
  }
}

/** Those whose jobs are all stored. */
async function insert(
  host: ExtensionHost,
  claims: readonly Versioned[],
  isInTime: () => boolean,
): Promise<Fired[]> {
  const refused = new Map<string, string>();
  const stored = new Set<string>();
  const jobs = claims.flatMap(({ state }) =>
    state.claim!.ticks.flatMap(({ jobId: id, at }) =>
      id === null ? [] : [tickJob(jobOf(state), { name: state.name, id, at })],
    ),
  );
  for (const batch of batches(jobs)) {
    if (!isInTime()) break;
    for (const { id, error } of await insertBatch(host, batch)) {
      stored.add(id);
      if (error !== null) refused.set(id, error);
    }
  }
  return claims.flatMap(({ state, version }) => {
    const { ticks } = state.claim!;
    if (ticks.some(({ jobId }) => jobId !== null && !stored.has(jobId))) return [];
    return [{ state, version, ticks: ticks.map((tick) => withRefusal(tick, refused)) }];
  });
}

function withRefusal(tick: Tick, refused: ReadonlyMap<string, string>): Tick {
  const error = tick.jobId === null ? undefined : refused.get(tick.jobId);
  return error === undefined ? tick : { ...tick, state: "failed", error };
}

/** A job that the store refuses for good must not keep the others from firing, nor be tried for ever. */
async function insertBatch(
  host: ExtensionHost,
  jobs: readonly NewJob[],
): Promise<{ readonly id: string; readonly error: string | null }[]> {
  try {
    await host.jobs.insert(jobs, { evenIfFull: true });
    return jobs.map(({ id }) => ({ id, error: null }));
  } catch (error) {
    if (error instanceof HoldfastError && error.isRetryable) throw error;
    if (jobs.length > 1) {
      const single = [];
      for (const job of jobs) single.push(...(await insertBatch(host, [job])));
      return single;
    }
    const [{ id, tags }] = jobs as [NewJob];
    const message = error instanceof Error ? error.message : String(error);
    host.logger.error(`the job of a tick was refused (${tags.join(", ")})`, { error });
    return [{ id, error: message.slice(0, 2_000) }];
  }
}

function* batches(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let batch: NewJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    // UTF-16 units to UTF-8 bytes, at worst.
    const size = job.payload.length * 3;
    if (batch.length === BATCH_ITEMS || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(job);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function jobOf({ claim: open, definition }: ScheduleState) {
  return open?.job ?? definition.job;
}
