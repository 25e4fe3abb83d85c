/** Simulations: workloads that are spread over time. */
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { sparkline } from "../output/sparkline.ts";
import { many } from "../output/words.ts";
import { readWhole } from "../settings/read-flags.ts";
import { loadPacing, type PacingLike, type SimulationLike } from "./load-pacing.ts";
import { WHY } from "./shared-options.ts";

const PARTS = 60;
const HOUR_MS = 3_600_000;
const SHAPES = ["uniform", "linear", "front-loaded", "back-loaded", "bell"];

async function pacingOf(cli: Cli): Promise<PacingLike> {
  return loadPacing(await cli.open());
}

export const simList: Command = {
  name: "sim list",
  summary: "lists simulations",
  examples: ["sim", "sim list --json"],
  async run(cli) {
    const { simulations } = await (await pacingOf(cli)).list({ limit: 200 });
    cli.print(simulations, () =>
      simulations.length === 0
        ? "There is no simulation: holdfast sim start demo --records 1000 --hours 24 makes one."
        : cli.table(simulations, [
            { title: "SIMULATION", value: ({ id }) => id, atLeast: 12 },
            { title: "STATUS", value: ({ status }) => status },
            { title: "RECORDS", value: ({ records }) => records, align: "right" },
            { title: "START", value: ({ start }) => start.toISOString() },
            { title: "END", value: ({ end }) => end.toISOString() },
            { title: "QUEUE", value: ({ queue }) => queue, atLeast: 8 },
          ]),
    );
  },
};

export const simStart: Command = {
  name: "sim start",
  args: "<id>",
  summary: "starts a simulation; with --records it is planned first",
  examples: ["sim start {simulation}", "sim start demo --records 1000 --hours 24 --shape bell"],
  options: [
    { flags: "--records <n>", about: "plan so many records", read: readWhole },
    { flags: "--hours <n>", about: "over so many hours from now, default 24", read: readWhole },
    { flags: "--shape <shape>", about: "how they are spread, default uniform", choices: SHAPES },
    { flags: "--policy <policy>", about: "default strict", choices: ["strict", "by-time"] },
    ...WHY,
  ],
  async run(cli, { args: [id] }) {
    const pacing = await pacingOf(cli);
    const { records, hours = 24, shape, policy } = cli.flags;
    if (records !== undefined) {
      await pacing.create(
        {
          ...{ id, records, durationMs: Number(hours) * HOUR_MS },
          ...(shape !== undefined && { distribution: { shape } }),
          ...(policy !== undefined && { policy }),
        },
        cli.why,
      );
    }
    const made = await pacing.start(String(id), cli.why);
    cli.print(made, () => `${line(made)} A worker expands its first segment.`);
  },
};

export const simShow: Command = {
  name: "sim show",
  args: "<id>",
  summary: "shows a simulation: planned against actual, counters, budgets",
  examples: ["sim show {simulation}", "sim show {simulation} --json"],
  async run(cli, { args: [id] }) {
    const pacing = await pacingOf(cli);
    const found = await pacing.get(String(id));
    if (!found) {
      const missing = `There is no simulation ${clean(id)}: holdfast sim list has those that are.`;
      throw new CliError(ExitCode.notFound, missing);
    }
    const [metrics, curve] = [await pacing.metrics(found.id), await pacing.curve(found.id, PARTS)];
    cli.print({ ...found, metrics, curve }, () => {
      const most = Math.max(1, ...curve.planned, ...curve.actual);
      const counted = Object.entries(metrics.counters).filter(([, count]) => count > 0);
      const bounded = Object.entries(metrics.budgets).filter(([, { limit }]) => limit !== null);
      return [
        line(found),
        `records   ${metrics.records_processed} of ${metrics.records_total}`,
        `segments  ${metrics.segments.complete} of ${metrics.segments.total}`,
        `planned   ${sparkline(curve.planned, most)}`,
        `actual    ${sparkline(curve.actual, most)}`,
        ...counted.map(([name, count]) => `${name.padEnd(22)}${count}`),
        ...bounded.map(([type, { spent, limit }]) => `budget of ${type}s: ${spent} of ${limit}`),
      ].join("\n");
    });
  },
};

export const simSegments: Command = {
  name: "sim segments",
  args: "<id>",
  summary: "lists the segments of a simulation",
  examples: ["sim segments {simulation}", "sim segments {simulation} --from 10 --limit 5"],
  options: [
    { flags: "--from <n>", about: "the first to show, default 0", read: readWhole },
    { flags: "--limit <n>", about: "how many, default 100", read: readWhole },
  ],
  async run(cli, { args: [id] }) {
    const pacing = await pacingOf(cli);
    const { from, limit } = cli.flags as { readonly from?: number; readonly limit?: number };
    const page = await pacing.segments(String(id), {
      ...(from !== undefined && { from }),
      ...(limit !== undefined && { limit }),
    });
    cli.print(page, () =>
      cli.table(page.segments, [
        { title: "SEGMENT", value: ({ number }) => number, align: "right" },
        { title: "START", value: ({ start }) => new Date(start).toISOString() },
        { title: "RECORDS", value: ({ count }) => count, align: "right" },
        {
          title: "CREATED",
          value: ({ counters }) => counters?.["records_created"] ?? 0,
          align: "right",
        },
        { title: "STATUS", value: ({ status }) => status },
      ]),
    );
  },
};

function move(how: "pause" | "resume" | "abort", summary: string): Command {
  return {
    name: `sim ${how}`,
    args: "<id>",
    summary,
    examples: [`sim ${how} {simulation} --reason "month end"`],
    options: WHY,
    async run(cli, { args: [id] }) {
      const after = await (await pacingOf(cli))[how](String(id), cli.why);
      cli.print(after, () => line(after));
    },
  };
}

export const simPause = move("pause", "holds a simulation; what runs goes on");
export const simResume = move("resume", "lets a paused simulation go on");
export const simAbort = move("abort", "ends a simulation for good");

function line({ id, status, records, segments, policy }: SimulationLike): string {
  const size = `${many(records, "record")} in ${many(segments, "segment")}`;
  return `Simulation ${clean(id)} is ${status}: ${size}, ${policy}.`;
}
