/** Schedules that belong to the store: made, changed and removed by hand. */
import type { Holdfast, JobItem, RuleOptions, ScheduleOptions } from "holdfast";
import type { Flags } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { instant } from "../output/words.ts";
import { readDuration, readWhole } from "../settings/read-flags.ts";
import { queueOf } from "./enqueue.ts";
import { readPayload, WHY, YES } from "./shared-options.ts";

const RULE: readonly Option[] = [
  { flags: "--cron <expression>", about: 'five fields: "0 9 * * 1" is Mondays at nine' },
  { flags: "--time-zone <zone>", about: "of the expression: Europe/Berlin (default UTC)" },
  { flags: "--every <duration>", about: "instead of --cron: 30s, 2m, 1h", read: readDuration },
  {
    flags: "--start-after <duration>",
    about: "the first tick of an interval (default: one interval)",
    read: readDuration,
  },
];

function ruleOf({ cron, timeZone, every, startAfter }: Flags): RuleOptions {
  if ((cron === undefined) === (every === undefined)) {
    throw new CliError(
      ExitCode.usage,
      'a schedule takes either --cron, such as "0 9 * * 1", or --every, such as 2m',
    );
  }
  const rule: object = {
    ...(cron !== undefined && { cron: cron as string }),
    ...(timeZone !== undefined && { timeZone: timeZone as string }),
    ...(every !== undefined && { everyMs: every as number }),
    ...(startAfter !== undefined && { startAfterMs: startAfter as number }),
  };
  // A zone of an interval is refused by the library, which says so.
  return rule as RuleOptions;
}

export const schedulesSet: Command = {
  name: "schedules set",
  args: "<name> <type> [payload]",
  summary: "makes a schedule, or puts another rule in its place",
  about:
    "It belongs to the store: it fires as long as any worker runs. One that a program declares is changed in that program. What is not said is no part of it any more: say the whole rule.",
  examples: [
    `schedules set weekly email.send '{"to":"ann"}' --queue mail --cron "0 9 * * 1" --time-zone Europe/Berlin`,
    "schedules set beat email.send --queue mail --every 2m --overlap queue --missed skip",
  ],
  options: [
    ...RULE,
    {
      flags: "--overlap <what>",
      about: "while the last one has not ended (default skip)",
      choices: ["skip", "queue", "cancel"],
    },
    {
      flags: "--missed <what>",
      about: "ticks at which no worker lived (default once)",
      choices: ["once", "skip", "all"],
    },
    { flags: "-q, --queue <name>", about: "where its jobs wait" },
    { flags: "-g, --group <group>", about: "their group in the queue" },
    { flags: "--priority <n>", about: "0 to 8191, lower first", read: readWhole },
    { flags: "--max-attempts <n>", about: "attempts of each", read: readWhole },
    { flags: "--tag <tag>", about: "a tag of each; may be repeated", repeats: true },
    { flags: "--jobs <file>", about: "the module that defines the jobs: checks the payload" },
    ...WHY,
  ],
  async run(cli, { args: [name, type, given] }) {
    const { flags } = cli;
    const rule = ruleOf(flags);
    const payload = await readPayload(cli, given);
    const hf = await cli.open({ makesFile: true, withJobs: true });
    const own = flags["queue"] === undefined ? await queueOf(cli, hf, String(type)) : {};
    const job = { ...jobOf(flags), ...own, type: String(type), payload } as JobItem;
    const { overlap, missed } = flags as Pick<ScheduleOptions, "overlap" | "missed">;
    await hf.schedules.set(
      String(name),
      {
        ...{ ...rule, job },
        ...(overlap !== undefined && { overlap }),
        ...(missed !== undefined && { missed }),
      },
      cli.why,
    );
    const view = await hf.schedules.get(String(name));
    cli.print(view, () => `Schedule ${clean(name)} is set.\n${nextWords(view.next)}`);
  },
};

function jobOf(flags: Flags): Partial<JobItem> {
  const names = {
    ...{ queue: "queue", group: "group", priority: "priority", maxAttempts: "maxAttempts" },
    tag: "tags",
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([flag, option]) =>
      flags[flag] === undefined ? [] : [[option, flags[flag]]],
    ),
  );
}

export const schedulesRemove: Command = {
  name: "schedules remove",
  args: "<name>",
  summary: "removes a schedule; jobs that it made go on",
  examples: ['schedules remove {schedule} --reason "over" --yes'],
  options: [...WHY, YES],
  async run(cli, { args: [name] }) {
    await cli.confirm(`Remove the schedule ${clean(name)}?`);
    const hf: Holdfast = await cli.open();
    await hf.schedules.remove(String(name), cli.why);
    cli.print({ name, state: "removed" }, () => `Schedule ${clean(name)} is removed.`);
  },
};

export const schedulesPreview: Command = {
  name: "schedules preview",
  summary: "says when a rule would fire; nothing is stored",
  examples: [
    'schedules preview --cron "0 9 * * 1" --time-zone Europe/Berlin',
    "schedules preview --every 2m",
  ],
  options: [
    ...RULE,
    { flags: "-n, --limit <n>", about: "so many ticks (default 5)", read: readWhole },
  ],
  async run(cli) {
    const rule = ruleOf(cli.flags);
    const hf = await cli.open();
    const count = cli.flags["limit"] as number | undefined;
    const next = await hf.schedules.preview(rule, count === undefined ? {} : { count });
    cli.print({ next }, () => nextWords(next));
  },
};

function nextWords(next: readonly Date[]): string {
  return next.length === 0
    ? "It does not fire."
    : next.map((at) => `next  ${instant(at)}`).join("\n");
}
