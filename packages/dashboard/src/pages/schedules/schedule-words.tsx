/** How a schedule and its runs are said in a few words. */
import type { Run, Schedule } from "../../api/types.ts";
import { Tag, type Tone } from "../../components/texts.tsx";
import { cronWords } from "../../text/cron-words.ts";
import { duration } from "../../text/times.ts";

export function ruleWords({ cron, everyMs, timeZone }: Schedule): string {
  if (cron === null) return `every ${duration(everyMs ?? 0)}`;
  const words = cronWords(cron) ?? cron;
  return timeZone === null ? words : `${words}, ${timeZone}`;
}

const RUN_TONES: Readonly<Record<string, Tone>> = {
  ...{ succeeded: "ok", dead: "bad", failed: "bad", missed: "warn", skipped: "warn" },
  ...{ waiting: "wait", running: "wait", cancelled: "idle" },
};

/** What became of its job, or why there was none. */
export function RunTag({ run }: { run: Run }) {
  const words = run.state === "fired" ? (run.outcome ?? "fired") : run.state;
  return <Tag tone={RUN_TONES[words] ?? "idle"}>{words}</Tag>;
}

export function StandingTag({ schedule }: { schedule: Schedule }) {
  if (schedule.paused !== null) return <Tag tone="warn">paused</Tag>;
  if (schedule.disabledAt !== null) return <Tag tone="warn">no program declares it</Tag>;
  return null;
}
