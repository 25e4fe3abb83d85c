/** What waits and who works, put side by side: work that no worker will ever take. */
import type { Holdfast } from "../any-holdfast.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkFunction, checkOptions } from "../core/option-checks.ts";
import type { Finding } from "../core/store-check.ts";
import type { FleetWorker } from "../control/workers/workers.ts";

export interface CheckFleetOptions {
  /** This host's clock; a test brings its own. */
  readonly now?: (() => number) | undefined;
}

/** More than a page of names would help no person. */
const MOST_NAMED = 10;
/** Of the oldest jobs of a queue: a type that no worker has waits among them. */
const LOOKED_AT = 200;
const SKEW_MS = 2_000;
const OWN_QUEUES = /^holdfast\./;

export async function checkFleet(
  hf: Holdfast,
  options: CheckFleetOptions = {},
): Promise<readonly Finding[]> {
  if (typeof (hf as Partial<Holdfast> | null | undefined)?.counts !== "function") {
    throw new InvalidOptionError("checkFleet takes a Holdfast: checkFleet(hf)");
  }
  checkOptions("checkFleet", options, ["now"]);
  const { now = Date.now } = options;
  checkFunction("now", now);
  const [workers, counts, skewMs] = [
    await hf.workers.list(),
    await hf.counts(),
    await skewOf(hf, now),
  ];
  const waiting = Object.entries(counts).filter(([, { ready }]) => ready > 0);
  const alone = waiting.filter(([queue]) => !workers.some((one) => one.queues.includes(queue)));
  const served = waiting.filter(([queue]) => workers.some((one) => one.queues.includes(queue)));
  const dead = Object.values(counts).reduce((sum, one) => sum + one.dead, 0);
  return [
    clockFinding(skewMs),
    {
      ...{ check: "workers", level: workers.length === 0 ? "note" : "ok" },
      message:
        workers.length === 0
          ? "no worker is running: holdfast work --jobs ./jobs.ts starts one"
          : `${workers.length} ${workers.length === 1 ? "worker is" : "workers are"} running`,
    },
    ...alone.slice(0, MOST_NAMED).map(([queue, { ready }]): Finding => {
      return {
        ...{ check: "queue without a worker", level: OWN_QUEUES.test(queue) ? "note" : "warning" },
        message: `${ready} jobs wait in queue ${queue}, and no live worker leases from it: start one with that queue`,
      };
    }),
    ...(await unknownTypes(
      hf,
      workers,
      served.map(([queue]) => queue),
    )),
    ...(await idleSchedules(hf, workers)),
    ...quietWorkers(workers),
    ...(dead > 0
      ? [
          {
            ...{ check: "dead jobs", level: "note" as const },
            message: `${dead} jobs are dead: holdfast dead groups says what they died of`,
          },
        ]
      : []),
  ];
}

/** Between this host and the store, measured from the middle of a round trip. */
async function skewOf(hf: Holdfast, now: () => number): Promise<number> {
  const before = now();
  const store = (await hf.storeTime()).getTime();
  const after = now();
  const off = store - (before + after) / 2;
  return Math.abs(off) <= (after - before) / 2 ? 0 : off;
}

function clockFinding(skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1);
  if (Math.abs(skewMs) < SKEW_MS) {
    return { check: "clock", level: "ok", message: "this host's clock agrees with the store's" };
  }
  return {
    ...{ check: "clock", level: "warning" },
    message: `this host's clock is ${seconds} s ${skewMs > 0 ? "behind" : "ahead of"} the store's, which decides: a date that a program names here comes that much ${skewMs > 0 ? "early" : "late"}. Set the clocks by NTP`,
  };
}

async function unknownTypes(
  hf: Holdfast,
  workers: readonly FleetWorker[],
  queues: readonly string[],
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const queue of queues.slice(0, LOOKED_AT)) {
    const known = new Set(
      workers.filter((one) => one.queues.includes(queue)).flatMap(({ types }) => types),
    );
    const { jobs } = await hf.jobs({
      ...{ queue, status: "queued", order: "oldest", limit: LOOKED_AT, without: "payloads" },
    });
    const unknown = new Set(jobs.map(({ type }) => type).filter((type) => !known.has(type)));
    for (const type of [...unknown].slice(0, MOST_NAMED)) {
      found.push({
        ...{ check: "unknown type", level: "warning" },
        message: `jobs of type ${type} wait in queue ${queue}, and no worker of that queue has a handler for it: deploy one that has, or cancel them`,
      });
    }
  }
  return found;
}

/** A schedule whose jobs no worker would take makes a heap of them, or fires not at all. */
async function idleSchedules(hf: Holdfast, workers: readonly FleetWorker[]): Promise<Finding[]> {
  const all = await hf.schedules.list();
  const isServed = (job: { readonly type: string; readonly queue: string }) =>
    workers.some(({ queues, types }) => queues.includes(job.queue) && types.includes(job.type));
  return all
    .filter(({ enabled, job }) => enabled && !isServed(job))
    .slice(0, MOST_NAMED)
    .map(({ name, job }) => ({
      ...{ check: "schedule without a worker", level: "warning" as const },
      message: `schedule ${name} makes jobs of type ${job.type} in queue ${job.queue}, and no live worker runs them: start one that does, or pause the schedule`,
    }));
}

function quietWorkers(workers: readonly FleetWorker[]): Finding[] {
  return workers
    .filter(({ isQuiet }) => isQuiet)
    .slice(0, MOST_NAMED)
    .map(({ id }) => ({
      ...{ check: "quiet worker", level: "note" as const },
      message: `worker ${id} was told to lease nothing: holdfast workers resume ${id}`,
    }));
}
