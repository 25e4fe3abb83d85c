/**
 * The faults stop. Now everything that was acknowledged must reach its end, in bounded time: crashed
 * workers' jobs come back within two seconds of their lease, every caller gets its answer, every
 * stop ends; and then the store must show exactly what happened.
 */
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;
/** Retries, hand-backs of up to a minute and three crashes of every killer fit in well. */
const LONGEST_MS = 15 * MINUTE_MS;
/** "Within 12 s" with a lease of 10 s; and a little for the way. */
const REAPED_WITHIN_MS = 2_000 + 100;
const LOOK_EVERY = 10;
const LET_GO_EVERY_MS = 15_000;

export async function calm(world: World): Promise<void> {
  const { time, network, processes, operator } = world;
  world.setWeather(null);
  const since = time.now;
  for (const process of processes) {
    process.thaw();
    process.reconnect();
  }
  const letting = { nextAt: since, isUnderWay: false, isDone: false };
  for (let turn = 0; !world.violation; turn += 1) {
    await world.turn();
    for (const process of world.processes) process.learnStrangers();
    if (turn % LOOK_EVERY !== 0 || network.isAway) continue;
    // More than once: a pause that was sent in the storm may arrive late.
    if (time.now >= letting.nextAt && !letting.isUnderWay) {
      letting.nextAt = time.now + LET_GO_EVERY_MS;
      letting.isUnderWay = true;
      void Promise.all([operator.letGo(), world.controlRoom?.letGo()]).then(() => {
        letting.isUnderWay = false;
        letting.isDone = true;
      });
    }
    checkRecovery(world, since);
    if (letting.isDone && !letting.isUnderWay && isDone(world)) break;
    if (time.now - since > LONGEST_MS) complainOfRest(world);
  }
  if (!world.violation) await world.auditor.everything();
  if (!world.violation) world.judge.tell((watcher) => watcher.calmed?.());
  tidy(world);
}

function isDone({ book, producers, processes, controlRoom }: World): boolean {
  const isStopping = processes.some((process) => process.isStopping);
  const isRelayed = [...book.promisedEntries].every((id) => book.entries.has(id));
  return (
    book.live === 0 && producers.open.size === 0 && !isStopping && isRelayed && !controlRoom?.isBusy
  );
}

function checkRecovery(world: World, calmSince: number): void {
  const { time, settings, book, processes } = world;
  // Whoever reaps must have been in touch for a lease length first, and calls that were slow or
  // failed in the storm may be heard of for two more.
  const longEnoughAgo = time.now - settings.leaseMs - REAPED_WITHIN_MS;
  if (calmSince > longEnoughAgo - 3 * settings.leaseMs) return;
  const isAnyoneSteady = processes.some((one) => one.isWorking && one.startedAt < longEnoughAgo);
  if (!isAnyoneSteady) return;
  for (const { id, lease } of book.processing) {
    const lateMs = lease ? book.clock.peek() - lease.until : 0;
    if (lateMs <= REAPED_WITHIN_MS) continue;
    const message = `its lease ran out ${Math.round(lateMs)} ms ago and nobody reaped it`;
    world.complain("a crashed worker's jobs come back in time", message, id);
  }
}

function complainOfRest(world: World): void {
  const { book, producers, processes } = world;
  const job = [...book.jobs.values()].find(
    ({ status }) => status === "queued" || status === "processing",
  );
  const stopping = processes.find((process) => process.isStopping);
  const name = "everything ends";
  if (job) {
    const where = `${job.type} in ${job.queue}, attempt ${job.attempts} of ${job.maxAttempts}`;
    world.complain(name, `still ${job.status} (${job.place}) after the faults: ${where}`, job.id);
  } else if (stopping) {
    world.complain(name, `${stopping.name} was asked to stop and never did`);
  } else if (producers.open.size > 0) {
    world.complain(name, `${producers.open.size} enqueues were never answered`);
  } else if (world.controlRoom?.isBusy) {
    world.complain(name, "an operation was never carried to its end");
  } else {
    world.complain(name, "entries were never carried from the outbox to the ledger");
  }
}

/** What is proved is put away, or a night's run would remember every job it ever saw. */
function tidy({ book, trace, time, backing }: World): void {
  for (const [id, { forgetAt }] of book.gone) {
    if (forgetAt > time.now) continue;
    book.gone.delete(id);
    trace.forget(id);
  }
  book.entries.clear();
  book.promisedEntries.clear();
  for (const kind of ["entry", "relayed", "failure", "audit", "tick"]) {
    time.during(backing.shared.ledger.trim({ kind, olderThanMs: 0, keep: null, limit: 1_000_000 }));
  }
}
