/** Settings of a queue, which live in the store and which every process obeys. */
import type { KeepRule, QueueSettingsPatch, QueueSettingsView } from "holdfast";
import type { Flags } from "../cli.ts";
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";
import { count, duration } from "../output/words.ts";
import { NONE, readBound, readDuration } from "../settings/read-flags.ts";
import { WHY } from "./shared-options.ts";

const KEPT = ["succeeded", "dead", "cancelled"] as const;

/** `14d`, or `none`: for ever. */
function readKeep(text: string): number | typeof NONE {
  return text === NONE ? NONE : readDuration(text);
}

export const settings: Command = {
  name: "settings",
  args: "<queue>",
  summary: "shows the settings of a queue, or changes those that you name",
  about:
    "They live in the store: every process obeys them within seconds. What is not named stays as it is.",
  examples: [
    "settings mail",
    'settings mail --keep-dead none --max-waiting 10000 --reason "audit"',
    "settings mail --follow-general-keep --overflow wait",
  ],
  options: [
    ...KEPT.map((status) => ({
      flags: `--keep-${status} <duration>`,
      about: `how long ${status} jobs are kept: 14d; none: for ever`,
      read: readKeep,
    })),
    { flags: "--follow-general-keep", about: "keep jobs as long as other queues do, again" },
    {
      flags: "--max-active <n>",
      about: "most jobs running at once; none: no bound",
      read: readBound,
    },
    { flags: "--max-active-per-group <n>", about: "most of one group at once", read: readBound },
    { flags: "--max-waiting <n>", about: "an enqueue beyond it is refused", read: readBound },
    {
      flags: "--overflow <what>",
      about: "a new job while all that may run do",
      choices: ["wait", "reject", "cancel-running"],
    },
    ...WHY,
  ],
  async run(cli, { args: [queue] }) {
    const patch = patchOf(cli.flags);
    const hf = await cli.open();
    const name = String(queue);
    if (Object.keys(patch).length > 0) await hf.queues.set(name, patch, cli.why);
    const view = await hf.queues.get(name);
    cli.print(view, () => settingsWords(view));
  },
};

function patchOf(flags: Flags): QueueSettingsPatch {
  const keep = KEPT.flatMap((status) => {
    const value = flags[`keep${status[0]?.toUpperCase()}${status.slice(1)}`];
    return value === undefined ? [] : [[status, value === NONE ? null : { maxAgeMs: value }]];
  });
  const bounds = ["maxActive", "maxActivePerGroup", "maxWaiting"].flatMap((limit) => {
    const value = flags[limit];
    return value === undefined ? [] : [[limit, value === NONE ? null : value]];
  });
  return {
    ...(Object.fromEntries(bounds) as QueueSettingsPatch),
    ...(keep.length > 0 && { keep: Object.fromEntries(keep) as object }),
    ...(flags["followGeneralKeep"] === true && { keep: null }),
    ...(flags["overflow"] !== undefined && {
      overflow: flags["overflow"] as NonNullable<QueueSettingsPatch["overflow"]>,
    }),
  };
}

function settingsWords({ queue, keep, overflow, ...bounds }: QueueSettingsView): string {
  const kept = KEPT.map((status): [string, string] => {
    const rule = keep[status];
    return [`keep ${status}`, rule === undefined ? "as in general" : keepWords(rule)];
  });
  const rows: [string, string][] = [
    ...kept,
    ["running at once", words(bounds.maxActive)],
    ["of one group", words(bounds.maxActivePerGroup)],
    ["waiting", words(bounds.maxWaiting)],
    ["overflow", overflow],
  ];
  return [clean(queue), ...rows.map(([name, value]) => `  ${name.padEnd(17)}${value}`)].join("\n");
}

function keepWords(rule: KeepRule | null): string {
  const { maxAgeMs = null, maxCount = null } = rule ?? {};
  const bounds = [
    ...(maxAgeMs === null ? [] : [duration(maxAgeMs)]),
    ...(maxCount === null ? [] : [`at most ${count(maxCount)}`]),
  ];
  return bounds.length === 0 ? "for ever" : bounds.join(", ");
}

const words = (bound: number | null) => (bound === null ? "no bound" : `at most ${bound}`);
