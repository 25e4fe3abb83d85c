/** Replays that have a name, to be planned again tomorrow. */
import type { PresetOptions } from "holdfast";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean, safeJson } from "../output/clean.ts";
import { readWhole } from "../settings/read-flags.ts";
import { DEAD, deadFilter } from "./dead.ts";

export const deadPresets: Command = {
  name: "dead presets",
  summary: "lists replays that have a name: dead replay --preset takes one",
  examples: ["dead presets"],
  async run(cli) {
    const hf = await cli.open();
    const all = await hf.deadLetters.presets.list();
    cli.print(all, () =>
      all.length === 0
        ? "No presets."
        : cli.table(all, [
            { title: "NAME", value: ({ name }) => name, atLeast: 8 },
            { title: "REPLAYS", value: ({ options }) => safeJson(options), atLeast: 20 },
          ]),
    );
  },
};

export const deadSave: Command = {
  name: "dead save",
  args: "<name>",
  summary: "saves a replay under a name, in place of one that has it",
  examples: ["dead save nightly --category network --strategy oldest --limit 500"],
  options: [
    ...DEAD.filter(({ flags }) => !flags.startsWith("--since")),
    { flags: "--strategy <which>", about: "which first", choices: ["oldest", "newest", "random"] },
    { flags: "-n, --limit <n>", about: "at most so many (and at most 10,000)", read: readWhole },
    { flags: "--per-category <n>", about: "at most so many of one category", read: readWhole },
  ],
  async run(cli, { args: [name] }) {
    const hf = await cli.open();
    const choice = ["strategy", "limit", "perCategory"].flatMap((word) =>
      cli.flags[word] === undefined ? [] : [[word, cli.flags[word]]],
    );
    const options = { ...deadFilter(cli.flags), ...Object.fromEntries(choice) } as PresetOptions;
    await hf.deadLetters.presets.save(String(name), options);
    cli.print({ name, options }, () => `Preset ${clean(name)} is saved.`);
  },
};

export const deadForget: Command = {
  name: "dead forget",
  args: "<name>",
  summary: "forgets a replay that has a name",
  examples: ["dead forget {preset}"],
  async run(cli, { args: [name] }) {
    const hf = await cli.open();
    const all = await hf.deadLetters.presets.list();
    if (!all.some((preset) => preset.name === name)) {
      throw new CliError(
        ExitCode.notFound,
        `there is no preset ${clean(name)}: holdfast dead presets lists them`,
      );
    }
    await hf.deadLetters.presets.remove(String(name));
    cli.print({ name, state: "removed" }, () => `Preset ${clean(name)} is forgotten.`);
  },
};
