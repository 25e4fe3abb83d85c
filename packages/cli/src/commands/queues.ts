/** Queues and their lines: look, hold, bound. */
import type { Holdfast, HoldView, LimitOptions, LineTarget } from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { ago, count, duration } from "../output/words.ts";
import { NONE, readBound, readDuration } from "../settings/read-flags.ts";
import { moreWords } from "./jobs.ts";
import { CURSOR, LIMIT, pageOf, WHY } from "./shared-options.ts";

const GROUP: Option = { flags: "-g, --group <group>", about: "only this group of it" };
/** So many queues are asked for their holds, the busiest first: more than a person reads would only cost. */
const MOST_LOOKED_AT = 200;

export interface QueueRow {
  readonly queue: string;
  readonly ready: number;
  readonly delayed: number;
  readonly processing: number;
  readonly retrying: number;
  readonly succeeded: number;
  readonly dead: number;
  readonly cancelled: number;
  readonly oldestReadyMs: number | null;
  /** Why nothing of it is leased. */
  readonly held: string | null;
}

export async function queueRows(
  hf: Holdfast,
  lookedAt = MOST_LOOKED_AT,
): Promise<readonly QueueRow[]> {
  const counts = Object.entries(await hf.counts());
  const now = Date.now();
  const busiest = counts.toSorted(([, a], [, b]) => b.ready + b.dead - a.ready - a.dead);
  const held = new Map(
    await Promise.all(
      busiest.slice(0, lookedAt).map(async ([queue]): Promise<[string, string | null]> => {
        const { queue: state } = await hf.lines(queue, { limit: 1 });
        return [queue, state ? holdWords(state.holds, now) : null];
      }),
    ),
  );
  return counts.map(([queue, { oldestReadyAt, ...numbers }]) => ({
    ...{ queue, ...numbers, held: held.get(queue) ?? null },
    oldestReadyMs: oldestReadyAt === null ? null : Math.max(0, now - oldestReadyAt),
  }));
}

export function holdWords(holds: readonly HoldView[], now: number): string | null {
  const [hold] = holds;
  if (hold === undefined) return null;
  const by = hold.by === null ? "" : ` by ${clean(hold.by)}`;
  const until = hold.until === null ? "" : ` until ${ago(hold.until, now).replace("in ", "+")}`;
  const what = hold.owner === "pause" ? "paused" : clean(hold.owner);
  const reason = hold.reason === "paused" ? "" : `: ${clean(hold.reason)}`;
  return `${what}${by}${until}${reason}`;
}

export const queues: Command = {
  name: "queues",
  summary: "lists queues: what waits, runs and died, and what is held",
  examples: ["queues", "queues --json"],
  async run(cli) {
    const rows = await queueRows(await cli.open());
    cli.print(rows, () =>
      rows.length === 0
        ? "There are no queues yet: a queue is there once a job is in it."
        : cli.table(rows, [
            { title: "QUEUE", value: ({ queue }) => queue, atLeast: 8 },
            { title: "READY", value: ({ ready }) => count(ready), align: "right" },
            {
              title: "DELAYED",
              value: ({ delayed }) => count(delayed),
              ...{ align: "right", mayGo: true },
            },
            { title: "RUNNING", value: ({ processing }) => count(processing), align: "right" },
            {
              title: "DEAD",
              value: ({ dead }) => count(dead),
              align: "right",
              paint: ({ dead }, paint) => (dead > 0 ? paint.red : undefined),
            },
            {
              title: "SUCCEEDED",
              value: ({ succeeded }) => count(succeeded),
              ...{ align: "right", mayGo: true },
            },
            {
              title: "OLDEST",
              value: ({ oldestReadyMs }) =>
                oldestReadyMs === null ? null : duration(oldestReadyMs),
              align: "right",
            },
            {
              title: "HELD",
              value: ({ held }) => held,
              atLeast: 6,
              paint: (_, paint) => paint.yellow,
            },
          ]),
    );
  },
};

function targetOf(cli: Cli, queue: unknown): LineTarget {
  const { group } = cli.flags;
  return typeof group === "string" ? { queue: String(queue), group } : String(queue);
}

/** To hold a queue before its first job is no mistake. A name that was misspelt looks the same, so it is said. */
async function noteNewQueue(cli: Cli, hf: Holdfast, queue: string): Promise<void> {
  const [counts, workers] = await Promise.all([hf.counts(), hf.workers.list()]);
  const known = [...Object.keys(counts), ...workers.flatMap((worker) => worker.queues)];
  // Those of a queue in several parts have its name and a number.
  if (known.some((one) => one === queue || one.startsWith(`${queue}:`))) return;
  cli.note(`No job is in a queue ${clean(queue)}, and no worker takes it: is it spelt right?`);
}

function lineWords(target: LineTarget): string {
  if (typeof target === "string") return `Queue ${clean(target)}`;
  return `Group ${clean(target.group ?? "")} of queue ${clean(target.queue)}`;
}

export const pause: Command = {
  name: "pause",
  args: "<queue>",
  summary: "holds a queue, or one group of it; what runs goes on",
  examples: ['pause mail --reason "provider is down"', "pause mail --group tenant-7 --for 30m"],
  options: [
    GROUP,
    { flags: "--for <duration>", about: "resumes by itself after: 30m, 2h", read: readDuration },
    ...WHY,
  ],
  async run(cli, { args: [queue] }) {
    const hf = await cli.open();
    const target = targetOf(cli, queue);
    const forMs = cli.flags["for"] as number | undefined;
    await noteNewQueue(cli, hf, String(queue));
    await hf.pause(target, { ...cli.why, ...(forMs !== undefined && { forMs }) });
    const until = forMs === undefined ? "" : ` for ${duration(forMs)}`;
    cli.print({ target, state: "paused" }, () => `${lineWords(target)} is paused${until}.`);
  },
};

export const resume: Command = {
  name: "resume",
  args: "<queue>",
  summary: "lets a paused queue, or a group of it, go on",
  examples: ["resume mail", "resume mail --group tenant-7"],
  options: [GROUP],
  async run(cli, { args: [queue] }) {
    const hf = await cli.open();
    const target = targetOf(cli, queue);
    await noteNewQueue(cli, hf, String(queue));
    await hf.tools.as({ by: cli.by }, () => hf.resume(target));
    cli.print({ target, state: "resumed" }, () => `${lineWords(target)} is no longer paused.`);
  },
};

const LIMITS = ["maxActive", "maxActivePerGroup", "maxWaiting", "weight"] as const;

export const limit: Command = {
  name: "limit",
  args: "<queue>",
  summary: "bounds what runs or waits in a queue, or a group of it",
  examples: [
    "limit mail --max-active 5 --max-active-per-group 1",
    "limit mail --group tenant-7 --weight 3",
    "limit mail --max-active none",
  ],
  options: [
    GROUP,
    {
      flags: "--max-active <n>",
      about: "most jobs running at once; none: no bound",
      read: readBound,
    },
    {
      flags: "--max-active-per-group <n>",
      about: "most of one group running at once",
      read: readBound,
    },
    { flags: "--max-waiting <n>", about: "an enqueue beyond it is refused", read: readBound },
    { flags: "--weight <n>", about: "jobs a group takes per turn", read: readBound },
  ],
  async run(cli, { args: [queue] }) {
    const target = targetOf(cli, queue);
    const limits = Object.fromEntries(
      LIMITS.flatMap((name) => {
        const value = cli.flags[name];
        return value === undefined ? [] : [[name, value === NONE ? null : value]];
      }),
    ) as LimitOptions;
    const set = Object.entries(limits);
    if (set.length === 0) {
      throw new CliError(ExitCode.usage, "limit needs a bound: for example --max-active 5");
    }
    const hf = await cli.open();
    await noteNewQueue(cli, hf, String(queue));
    await hf.tools.as({ by: cli.by }, () => hf.limit(target, limits));
    cli.print({ target, limits }, () => {
      const words = set.map(([name, value]) => `${name} ${value === null ? "none" : value}`);
      return `${lineWords(target)}: ${words.join(", ")}.`;
    });
  },
};

export const lines: Command = {
  name: "lines",
  args: "<queue>",
  summary: "shows the groups of a queue: who waits, who runs, who is held",
  examples: ["lines mail", "lines mail --limit 20"],
  options: [LIMIT, CURSOR],
  async run(cli, { args: [queue] }) {
    const hf = await cli.open();
    const page = await hf.lines(String(queue), pageOf(cli.flags));
    if (page.queue === null) {
      throw new CliError(ExitCode.notFound, `there is no queue ${clean(queue)}`);
    }
    const now = Date.now();
    const { holds, maxActive, active } = page.queue;
    const held = holdWords(holds, now);
    cli.print(page, () =>
      [
        `${clean(queue)}: ${active} running${maxActive === null ? "" : ` of at most ${maxActive}`}${held === null ? "" : `, ${held}`}`,
        page.lines.length === 0
          ? "No group waits or runs."
          : cli.table(page.lines, [
              { title: "GROUP", value: ({ group }) => group || "(none)", atLeast: 8 },
              { title: "WAITING", value: ({ waiting }) => count(waiting), align: "right" },
              { title: "RUNNING", value: (line) => line.active, align: "right" },
              { title: "AT MOST", value: (line) => line.maxActive, align: "right" },
              { title: "WEIGHT", value: ({ weight }) => weight, align: "right" },
              { title: "OLDEST", value: ({ oldestAt }) => ago(oldestAt, now) },
              { title: "HELD", value: (line) => holdWords(line.holds, now), atLeast: 6 },
            ]) + moreWords(cli, page.nextCursor),
      ].join("\n"),
    );
  },
};
