/** The fleet. */
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";
import { ago } from "../output/words.ts";
import { WHY } from "./shared-options.ts";

export const workersList: Command = {
  name: "workers list",
  summary: "lists live workers of every process",
  examples: ["workers", "workers --json"],
  async run(cli) {
    const hf = await cli.open();
    const all = await hf.workers.list();
    const now = Date.now();
    cli.print(all, () =>
      all.length === 0
        ? "No worker is running: holdfast work --jobs ./jobs.ts starts one."
        : cli.table(all, [
            { title: "WORKER", value: ({ id }) => id, atLeast: 16 },
            { title: "HOST", value: ({ host }) => host, atLeast: 6 },
            { title: "PID", value: ({ pid }) => pid, align: "right" },
            { title: "QUEUES", value: (one) => one.queues.join(","), atLeast: 8 },
            { title: "BUSY", value: (one) => `${one.active}/${one.slots}`, align: "right" },
            { title: "VERSION", value: ({ version }) => version },
            { title: "SINCE", value: ({ startedAt }) => ago(startedAt, now) },
            {
              title: "STATE",
              value: (one) => (one.isQuiet ? "quiet" : "leasing"),
              paint: (one, paint) => (one.isQuiet ? paint.yellow : undefined),
            },
          ]),
    );
  },
};

export const workersQuiet: Command = {
  name: "workers quiet",
  args: "<id>",
  summary: "tells a worker to lease nothing more; what runs goes on",
  examples: ['workers quiet {worker} --reason "new version"'],
  options: WHY,
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    await hf.workers.quiet(String(id), cli.why);
    cli.print({ id, state: "quiet" }, () => `Worker ${clean(id)} leases nothing from now on.`);
  },
};

export const workersResume: Command = {
  name: "workers resume",
  args: "<id>",
  summary: "lets a quiet worker lease again",
  examples: ["workers resume {worker}"],
  options: WHY,
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    await hf.workers.resume(String(id), cli.why);
    cli.print({ id, state: "leasing" }, () => `Worker ${clean(id)} leases again.`);
  },
};
