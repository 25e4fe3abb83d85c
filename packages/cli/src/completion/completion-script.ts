/** The scripts. Words only: names of jobs and queues are not looked up, so that a key press asks no store. */
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";

interface Words {
  /** After `holdfast` and after each group. */
  readonly below: ReadonlyMap<string, readonly string[]>;
  /** The options of each command. */
  readonly options: ReadonlyMap<string, readonly string[]>;
}

export function completionScript(
  shell: string,
  commands: readonly Command[],
  globals: readonly Option[],
): string {
  const words = wordsOf(commands, globals);
  switch (shell) {
    case "bash":
      return bash(words);
    case "zsh":
      return `#compdef holdfast\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
    case "fish":
      return fish(words);
    default:
      throw new CliError(ExitCode.usage, `completion is for bash, zsh or fish, not ${shell}`);
  }
}

function wordsOf(commands: readonly Command[], globals: readonly Option[]): Words {
  const below = new Map<string, string[]>([["", ["help"]]]);
  const options = new Map<string, string[]>();
  const shared = ["--help", ...globals.flatMap(longFlag)];
  for (const { name, options: own = [] } of commands) {
    const [first = "", second] = name.split(" ");
    const roots = below.get("") as string[];
    if (!roots.includes(first)) roots.push(first);
    if (second !== undefined) below.set(first, [...(below.get(first) ?? []), second]);
    options.set(name, [...own.flatMap(longFlag), ...shared]);
  }
  return { below, options };
}

function longFlag({ flags }: Option): string[] {
  return /--[a-z-]+/.exec(flags) ?? [];
}

function bash({ below, options }: Words): string {
  const cases = [
    ...[...below].map(([name, words]) => [name, words] as const),
    ...[...options].map(([name, words]) => [`${name} -`, words] as const),
  ].map(([name, words]) => `    "${name}") words="${words.join(" ")}" ;;`);
  return `_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  for word in "\${before[@]}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  local key="$path"
  case "$current" in -*)
    set -- $path
    case "$1 $2" in
${[...options.keys()]
  .filter((name) => name.includes(" "))
  .map((name) => `      "${name}") key="${name} -" ;;`)
  .join("\n")}
      *) key="$1 -" ;;
    esac ;;
  esac
  case "$key" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _holdfast holdfast
complete -o default -F _holdfast holdfast-cli
`;
}

function fish({ below, options }: Words): string {
  const lines = ["complete -c holdfast -f"];
  for (const [name, words] of below) {
    const where = name === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${name}`;
    lines.push(`complete -c holdfast -n "${where}" -a "${words.join(" ")}"`);
  }
  for (const [name, flags] of options) {
    const where = name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
    for (const flag of flags) {
      lines.push(`complete -c holdfast -n "${where}" -l ${flag.slice(2)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
