/**
 * Agenda's collection: what has `nextRunAt` waits, what has `repeatInterval` repeats, what failed last and has no next
 * run is done for. The higher priority is the first.
 */
import type { Db, Document } from "mongodb";
import { clamp, driver, PAGE } from "./source.ts";
import type { ForeignJob, ForeignSchedule, Left, Source, SourceOptions } from "./source.ts";

interface AgendaJob extends Document {
  readonly name: string;
  readonly data?: unknown;
  readonly priority?: number | null;
  readonly nextRunAt: Date | null;
  readonly lastRunAt?: Date | null;
  readonly lastFinishedAt?: Date | null;
  readonly failedAt?: Date | null;
  readonly failCount?: number | null;
  readonly failReason?: string | null;
  readonly repeatInterval?: string | number;
  readonly repeatTimezone?: string | null;
  readonly repeatAt?: string;
  readonly disabled?: boolean;
}

const REPEATS = { repeatInterval: { $exists: true, $nin: [null, ""] } };
const ONCE = { repeatInterval: { $in: [null, ""] }, repeatAt: { $in: [null, ""] } };
const FREE = { lockedAt: null };
const WAITS = { ...ONCE, ...FREE, nextRunAt: { $type: "date" as const } };
/** It failed, and that was the last of it. */
const FAILED = {
  ...{ nextRunAt: null, failedAt: { $type: "date" } },
  $expr: { $gte: ["$failedAt", { $ifNull: ["$lastFinishedAt", "$failedAt"] }] },
};
const UNITS: Readonly<Record<string, number>> = {
  ...{ second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 },
};

export async function agenda({ url, at = "agendaJobs" }: SourceOptions): Promise<Source> {
  const { MongoClient } = await driver("mongodb", () => import("mongodb"));
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  await client.connect();
  const db: Db = client.db();
  const jobsOf = db.collection<AgendaJob>(at);

  async function* jobs(): AsyncGenerator<readonly ForeignJob[]> {
    // One that is disabled does not run there, and must not begin to here.
    const enabled = { ...WAITS, disabled: { $ne: true } };
    for (const filter of [enabled, { ...ONCE, ...FREE, ...FAILED }]) {
      let page: ForeignJob[] = [];
      for await (const job of jobsOf.find(filter as never).sort({ _id: 1 })) {
        page.push(jobOf(job));
        if (page.length < PAGE) continue;
        yield page;
        page = [];
      }
      if (page.length > 0) yield page;
    }
  }

  return {
    running: () => jobsOf.countDocuments({ lockedAt: { $type: "date" } }),
    jobs,
    async schedules() {
      const all = await jobsOf
        .find(REPEATS as never)
        .sort({ _id: 1 })
        .toArray();
      return all.map(scheduleOf);
    },
    async left(): Promise<readonly Left[]> {
      const count = await jobsOf.countDocuments({
        ...{ repeatAt: { $exists: true, $nin: [null, ""] } },
        repeatInterval: { $in: [null, ""] },
      } as never);
      const disabled = await jobsOf.countDocuments({ ...WAITS, disabled: true } as never);
      return [
        { what: "jobs that repeat at a time in words (repeatAt)", count },
        { what: "jobs that are disabled", count: disabled },
      ];
    },
    close: () => client.close(),
  };
}

function jobOf(
  job: AgendaJob & { readonly _id: { toString(): string; getTimestamp?(): Date } },
): ForeignJob {
  const isDead = job.nextRunAt === null;
  // The same in every run: the id here has it, and by the id a job is not taken twice.
  const known = job._id.getTimestamp?.() ?? job.nextRunAt ?? job.failedAt;
  const createdAt = known?.getTime() ?? 0;
  const failed = job.failCount ?? 0;
  return {
    ...{ key: job._id.toString(), type: job.name, queue: null, group: null },
    payload: job.data ?? {},
    status: isDead ? "dead" : "queued",
    priority: clamp(100 - (job.priority ?? 0)),
    ...{ attempts: failed, maxAttempts: Math.max(1, isDead ? failed : failed + 1) },
    ...{ createdAt, runAt: job.nextRunAt?.getTime() ?? createdAt },
    startedAt: job.lastRunAt?.getTime() ?? null,
    finishedAt: isDead ? (job.failedAt?.getTime() ?? createdAt) : null,
    error: job.failReason ? { message: job.failReason, stack: null } : null,
  };
}

function scheduleOf(job: AgendaJob): ForeignSchedule {
  const everyMs = intervalOf(job.repeatInterval);
  return {
    ...{ name: job.name, type: job.name, queue: null, payload: job.data ?? {} },
    cron: everyMs === null ? String(job.repeatInterval) : null,
    timeZone: everyMs === null ? (job.repeatTimezone ?? null) : null,
    everyMs,
    startAfterMs: job.nextRunAt ? Math.max(0, job.nextRunAt.getTime() - Date.now()) : null,
    isPaused: job.disabled === true,
  };
}

/** Milliseconds, or words such as `5 minutes`; null: it is an expression. */
function intervalOf(interval: string | number | undefined): number | null {
  const number = Number(interval);
  if (Number.isFinite(number) && number > 0) return number;
  const [, amount = "1", unit = ""] = /^(?:(\d+) )?(\w+?)s?$/.exec(String(interval).trim()) ?? [];
  const length = UNITS[unit.toLowerCase()];
  return length === undefined ? null : Number(amount) * length;
}
