/** Schedules: what fires when, and what became of it. */
import type { Holdfast, RunView } from "holdfast";
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";
import { ago, duration, instant } from "../output/words.ts";
import { moreWords } from "./jobs.ts";
import { CURSOR, LIMIT, pageOf, WHY } from "./shared-options.ts";

/** As many as the library lists. */
const MOST = 10_000;

/** What its job failed with may have secrets in it. */
function hiddenRun(hf: Holdfast, run: RunView): RunView {
  return { ...run, error: run.error && hf.tools.redact.text(run.error) };
}

export const schedulesList: Command = {
  name: "schedules list",
  summary: "lists schedules: when they fire next, and what became of the last run",
  examples: ["schedules"],
  async run(cli) {
    const hf = await cli.open();
    const found = await hf.schedules.list({ limit: MOST });
    const all = found.map((one) => ({
      ...one,
      lastRun: one.lastRun && hiddenRun(hf, one.lastRun),
    }));
    const now = Date.now();
    cli.print(all, () =>
      all.length === 0
        ? "No schedules."
        : cli.table(all, [
            { title: "NAME", value: (one) => one.name, atLeast: 8 },
            {
              title: "WHEN",
              value: (one) => one.cron ?? `every ${duration(one.everyMs ?? 0)}`,
              atLeast: 9,
            },
            { title: "ZONE", value: (one) => one.timeZone, atLeast: 4 },
            { title: "JOB", value: (one) => one.job.type, atLeast: 8 },
            { title: "NEXT", value: (one) => ago(one.next[0] ?? null, now) },
            { title: "LAST", value: (one) => ago(one.lastRun?.tick ?? null, now) },
            { title: "OUTCOME", value: (one) => one.lastRun?.outcome ?? one.lastRun?.state },
            {
              title: "STATE",
              value: (one) => (one.enabled ? "on" : one.paused ? "paused" : "off"),
              paint: (one, paint) => (one.enabled ? undefined : paint.yellow),
            },
          ]),
    );
  },
};

export const schedulesRuns: Command = {
  name: "schedules runs",
  args: "<name>",
  summary: "lists the ticks of a schedule, newest first",
  examples: ["schedules runs {schedule}"],
  options: [LIMIT, CURSOR],
  async run(cli, { args: [name] }) {
    const hf = await cli.open();
    const found = await hf.schedules.runs(String(name), pageOf(cli.flags));
    const page = { ...found, runs: found.runs.map((run) => hiddenRun(hf, run)) };
    cli.print(page, () =>
      page.runs.length === 0
        ? "It has not fired yet."
        : cli.table(page.runs, [
            { title: "TICK", value: (run) => instant(run.tick) },
            { title: "STATE", value: (run) => run.state },
            { title: "JOB", value: (run) => run.job },
            { title: "OUTCOME", value: (run) => run.outcome },
            { title: "TOOK", value: (run) => (run.ranMs === null ? null : duration(run.ranMs)) },
            { title: "ERROR", value: (run) => run.error, atLeast: 8 },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};

function scheduleVerb(verb: "run" | "pause" | "resume", summary: string): Command {
  return {
    name: `schedules ${verb}`,
    args: "<name>",
    summary,
    examples: [`schedules ${verb} {schedule}`],
    options: WHY,
    async run(cli, { args: [name] }) {
      const hf = await cli.open();
      if (verb === "run") {
        const { id } = await hf.schedules.runNow(String(name), cli.why);
        return cli.print({ name, job: id }, () => `Enqueued ${clean(id)}.`);
      }
      await hf.schedules[verb](String(name), cli.why);
      const state = verb === "pause" ? "paused" : "on";
      cli.print({ name, state }, () => `Schedule ${clean(name)} is ${state}.`);
    },
  };
}

export const schedulesRun = scheduleVerb("run", "fires a schedule now, besides its times");
export const schedulesPause = scheduleVerb("pause", "stops a schedule from firing");
export const schedulesResume = scheduleVerb("resume", "lets a paused schedule fire again");
