/** A command as data: from it come the parser, the help, the completion and the tests of the examples. */
import type { Cli } from "./cli.ts";
import type { ExitCode } from "./exit-code.ts";

export interface Command {
  /** `dead replay` is a command below `dead`. */
  readonly name: string;
  /** `<id>`, `[ids...]`, as commander writes them. */
  readonly args?: string;
  readonly summary: string;
  /** More about it, in the help. */
  readonly about?: string;
  /** Each one runs as it is written, after `holdfast `. */
  readonly examples: readonly string[];
  readonly options?: readonly Option[];
  /** A package that may not be installed. */
  readonly needs?: "server" | "crm";
  run(cli: Cli, args: Args): Promise<ExitCode | void>;
}

export interface Args {
  /** In their order; what was left out is undefined, what repeats is an array. */
  readonly args: readonly (string | readonly string[] | undefined)[];
}

export interface Option {
  /** `--queue <name>`, `-n, --limit <n>`. */
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** It may be given several times. */
  readonly repeats?: boolean;
  readonly read?: (text: string) => unknown;
}
