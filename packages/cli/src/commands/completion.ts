/** Completion for shells, made from the same commands as the parser. */
import type { Command, Option } from "../command.ts";
import { completionScript } from "../completion/completion-script.ts";

export function makeCompletion(
  commands: () => readonly Command[],
  globals: () => readonly Option[],
): Command {
  return {
    name: "completion",
    args: "<shell>",
    summary: "prints what makes a shell complete commands: bash, zsh or fish",
    about: `For bash: source <(holdfast completion bash), in ~/.bashrc.`,
    examples: ["completion bash", "completion zsh", "completion fish"],
    async run(cli, { args: [shell] }) {
      cli.say(completionScript(String(shell), commands(), globals()));
    },
  };
}
