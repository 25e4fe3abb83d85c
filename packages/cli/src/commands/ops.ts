/** Operations: what is done to many jobs at once. */
import type { OperationView } from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-code.ts";
import { clean, safeJson } from "../output/clean.ts";
import { ago, count, instant } from "../output/words.ts";
import { endWords, watch } from "./bulk.ts";
import { YES } from "./shared-options.ts";

export const opsList: Command = {
  name: "ops list",
  summary: "lists operations, newest first",
  examples: ["ops", "ops --json"],
  async run(cli) {
    const hf = await cli.open();
    const all = await hf.operations.list();
    cli.print(all, () => (all.length === 0 ? "No operations." : opsTable(cli, all)));
  },
};

function opsTable(cli: Cli, all: readonly OperationView[]): string {
  const now = Date.now();
  return cli.table(all, [
    { title: "ID", value: ({ id }) => id },
    { title: "ACTION", value: ({ action }) => action },
    { title: "STATE", value: ({ state }) => state },
    { title: "DONE", value: (one) => `${count(one.done)}/${count(one.of)}`, align: "right" },
    { title: "FAILED AGAIN", value: (one) => count(one.failedAgain), align: "right" },
    { title: "PLANNED", value: ({ plannedAt }) => ago(plannedAt, now) },
    { title: "BY", value: ({ by }) => by, atLeast: 4 },
    { title: "REASON", value: ({ reason }) => reason, atLeast: 6 },
  ]);
}

export const opsShow: Command = {
  name: "ops show",
  args: "<id>",
  summary: "shows one operation",
  examples: ["ops show {operation}"],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const found = await hf.operations.get(String(id));
    const { pause: _, resume: __, abort: ___, watch: ____, ...view } = found;
    cli.print(view, () => {
      const rows = {
        ...{ action: view.action, state: view.state, filter: safeJson(view.filter) },
        ...{ jobs: count(view.of), done: count(view.done), refused: count(view.refused) },
        ...{ gone: count(view.missing), succeeded: count(view.succeeded) },
        ...{ "failed again": count(view.failedAgain), by: view.by, reason: view.reason },
        ...{ planned: instant(view.plannedAt), started: instant(view.startedAt) },
        ...{ ended: instant(view.endedAt) },
      };
      const lines = Object.entries(rows).flatMap(([name, value]) =>
        value === null || value === "" ? [] : [`${cli.paint.dim(name.padEnd(13))}${clean(value)}`],
      );
      return [cli.paint.bold(view.id), ...lines].join("\n");
    });
  },
};

function command(verb: "pause" | "resume" | "abort", summary: string, done: string): Command {
  return {
    name: `ops ${verb}`,
    args: "<id>",
    summary,
    examples: [`ops ${verb} {operation}${verb === "abort" ? " --yes" : ""}`],
    ...(verb === "abort" && { options: [YES] }),
    async run(cli, { args: [id] }) {
      const hf = await cli.open();
      const found = await hf.operations.get(String(id));
      if (verb === "abort") {
        await cli.confirm(`Abort this ${found.action} with ${count(found.of - found.done)} to go?`);
      }
      await found[verb]();
      cli.print({ id, state: done }, () => `Operation ${clean(id)} is ${done}.`);
    },
  };
}

export const opsPause = command("pause", "pauses an operation", "paused");
export const opsResume = command("resume", "lets a paused operation go on", "running");
export const opsAbort = command("abort", "ends an operation before its time", "aborted");

export const opsWatch: Command = {
  name: "ops watch",
  args: "<id>",
  summary: "follows an operation to its end; Ctrl-C pauses it",
  examples: ["ops watch {operation}"],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const last = await watch(cli, hf, await hf.operations.get(String(id)));
    cli.print(last, () => endWords(last));
    return ["finished", "settling"].includes(last.state) ? ExitCode.ok : ExitCode.failed;
  },
};
