/** What a user says of a schedule, checked, and the job that its ticks make. */
import { isContract, type JobItem } from "../../core/contract.ts";
import { InvalidNameError, InvalidOptionError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { SCHEDULE_TAG } from "../../core/lineage.ts";
import { checkName, MAX_TAGS } from "../../core/names.ts";
import { checkObject, checkOneOf, checkOptions } from "../../core/option-checks.ts";
import {
  MISSED,
  OVERLAPS,
  type Missed,
  type Overlap,
  type ScheduleDefinition,
  type ScheduledJob,
} from "../../core/schedule.ts";
import { checkRule, type RuleOptions } from "../../core/schedule-rule.ts";
import type { ExtensionHost } from "../../engine/extension.ts";

export type ScheduleOptions = RuleOptions & ScheduledOptions;

/** What each tick does, whatever the rule. */
export interface ScheduledOptions {
  /** What each tick enqueues: `report.of({ kind: "weekly" })`, or `{ type, payload, …options }`. */
  readonly job: JobItem;
  /**
   * While the job of the last tick has not finished: `"skip"` this tick (the default), `"queue"` its job behind
   * that one, or `"cancel"` that one and run this.
   */
  readonly overlap?: Overlap | undefined;
  /**
   * Ticks at whose time no worker lived: one job for all of them (`"once"`, the default), none for those that are
   * more than a minute late (`"skip"`), or one for each of the latest hundred (`"all"`).
   */
  readonly missed?: Missed | undefined;
}

export const RULE_OPTIONS = ["cron", "timeZone", "everyMs", "startAfterMs"];
const OPTIONS = [...RULE_OPTIONS, "job", "overlap", "missed"];
/** A tick has an id of its own, and a time of its own. */
const NOT_OF_A_TICK = [
  ...["idempotencyKey", "idempotencyTtlMs", "dedupe", "onDuplicate", "onConflict", "runAt"],
  "expiresAt",
];
/** Its jobs have it as a tag, behind a word. */
const MAX_NAME_CHARS = 100;

export function checkScheduleName(name: unknown): string {
  const checked = checkName("schedule", name);
  if (checked.length <= MAX_NAME_CHARS) return checked;
  throw new InvalidNameError(
    `the name of a schedule has at most ${MAX_NAME_CHARS} characters, not ${checked.length}`,
  );
}

/** A promise only if the schema of the job's payload is asynchronous. Throws what an enqueue would. */
export function checkSchedule(
  host: Pick<ExtensionHost, "compose">,
  name: string,
  options: ScheduleOptions,
): ScheduleDefinition | Promise<ScheduleDefinition> {
  checkOptions("schedule", options, OPTIONS);
  const rule = checkRule("schedule", options);
  const overlap = checkOneOf("overlap", options.overlap ?? "skip", OVERLAPS);
  const missed = checkOneOf("missed", options.missed ?? "once", MISSED);
  const item = checkItem(options.job);
  const finish = (job: NewJob): ScheduleDefinition => ({
    ...{ rule, overlap, missed },
    job: scheduledJob(name, job, { isSerial: overlap !== "skip" || missed === "all" }),
  });
  const job = host.compose(item);
  return job instanceof Promise ? job.then(finish) : finish(job);
}

function checkItem(item: unknown): JobItem {
  if (item === undefined) {
    throw new InvalidOptionError("schedule needs a job: for example report.of({ … })");
  }
  if (isContract(item)) {
    throw new InvalidOptionError(
      `job takes one job, not its contract: give it a payload, for example ${item.type}.of({ … })`,
    );
  }
  checkObject("job", item);
  for (const option of NOT_OF_A_TICK) {
    if ((item as Record<string, unknown>)[option] === undefined) continue;
    const instead =
      option === "runAt" || option === "expiresAt"
        ? "the schedule says when: take delayMs or expiresAfterMs, from each tick on"
        : "each tick makes one job, whatever others there are";
    throw new InvalidOptionError(`the job of a schedule has no ${option}: ${instead}`);
  }
  return item as JobItem;
}

/** Jobs that may be several at once, and must not run so, get a line of their own that runs one at a time. */
function scheduledJob(
  name: string,
  { id: _id, runAt: _runAt, dedupe: _dedupe, ...job }: NewJob,
  { isSerial }: { readonly isSerial: boolean },
): ScheduledJob {
  const tags = [...new Set([...job.tags, SCHEDULE_TAG + name])];
  if (tags.length > MAX_TAGS) {
    throw new InvalidOptionError(
      `the job of a schedule has at most ${MAX_TAGS - 1} tags: one is the name of the schedule`,
    );
  }
  return { ...job, tags, group: job.group === "" && isSerial ? ownGroup(name) : job.group };
}

export function ownGroup(name: string): string {
  return SCHEDULE_TAG + name;
}

/** The job of one tick. Its handler finds schedule and tick in `job.meta`. */
export function tickJob(
  job: ScheduledJob,
  { name, id, at }: { readonly name: string; readonly id: string; readonly at: number },
): NewJob {
  const given = job.meta === null ? {} : (JSON.parse(job.meta) as Record<string, unknown>);
  const meta = { ...given, schedule: name, tick: new Date(at).toISOString() };
  return { ...job, id, runAt: null, dedupe: null, meta: JSON.stringify(meta) };
}
