/** From the commands to a parser. What is typed wrong is answered with the nearest right word. */
import {
  Command as Parser,
  CommanderError,
  InvalidArgumentError,
  Option as ParserOption,
} from "commander";
import { Cli, type Flags } from "./cli.ts";
import type { Command, Option } from "./command.ts";
import { COMMANDS, GLOBAL_OPTIONS, GROUPS } from "./commands/all-commands.ts";
import type { Io } from "./io.ts";

export interface Ran {
  code: number;
}

/** `ran.code` is what the command that was found answered. */
export function makeProgram(io: Io, ran: Ran): Parser {
  const program = new Parser("holdfast")
    .description("Looks after jobs: on SQLite, PostgreSQL, Redis or MongoDB.")
    .exitOverride()
    .showSuggestionAfterError(true)
    .helpCommand("help [command]", "how a command is used")
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => (io.stdout.isTTY ? io.stdout.columns : 80),
      getErrHelpWidth: () => (io.stderr.isTTY ? io.stderr.columns : 80),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option));
  program.addHelpText(
    "after",
    `\nExit codes: 0 ok, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 the store is away.
Settings: a flag is over the environment (HOLDFAST_URL, …), that is over holdfast.config.*.\n`,
  );
  const groups = new Map<string, Parser>();
  for (const command of COMMANDS) addCommand(program, groups, command, { io, ran });
  return program;
}

function addCommand(
  program: Parser,
  groups: Map<string, Parser>,
  command: Command,
  { io, ran }: { readonly io: Io; readonly ran: Ran },
): void {
  const [first = "", second] = command.name.split(" ");
  const parent = second === undefined ? program : (groups.get(first) ?? makeGroup(program, first));
  if (second !== undefined) groups.set(first, parent);
  const name = second ?? first;
  // `holdfast ops` alone is `holdfast ops list`.
  const isDefault = second === "list" || second === "overview";
  const parser = parent
    .command(`${name}${command.args === undefined ? "" : ` ${command.args}`}`, { isDefault })
    .summary(command.summary)
    .description([command.summary, command.about].filter(Boolean).join("\n\n"))
    .copyInheritedSettings(program);
  for (const option of command.options ?? []) parser.addOption(optionOf(option));
  const examples = command.examples.map((example) => `  holdfast ${shownExample(example)}`);
  parser.addHelpText("after", `\nExamples:\n${examples.join("\n")}\n`);
  parser.action(async (...given: unknown[]) => {
    const flags = parser.optsWithGlobals<Flags>();
    const cli = new Cli(io, flags);
    const count = given.length - 2;
    try {
      const args = given.slice(0, count) as (string | readonly string[] | undefined)[];
      ran.code = (await command.run(cli, { args })) ?? 0;
    } finally {
      await cli.close();
    }
  });
}

/** What a person fills in is written as in the usage line. */
function shownExample(example: string): string {
  return example.replaceAll(/\{([a-z]+)\}/g, "<$1>");
}

function makeGroup(program: Parser, name: string): Parser {
  return program
    .command(name)
    .description(GROUPS[name] ?? "")
    .copyInheritedSettings(program);
}

function optionOf({ flags, about, choices, repeats, read }: Option): ParserOption {
  const option = new ParserOption(flags, about);
  if (choices) option.choices(choices);
  const isChoice = (value: string) => choices === undefined || choices.includes(value);
  if (repeats) {
    option.argParser((value: string, before: unknown) => {
      if (!isChoice(value)) {
        throw new InvalidArgumentError(`Allowed choices are ${choices?.join(", ")}.`);
      }
      return [...(Array.isArray(before) ? before : []), read ? read(value) : value];
    });
  } else if (read) option.argParser((value: string) => read(value));
  return option;
}

export { CommanderError };
