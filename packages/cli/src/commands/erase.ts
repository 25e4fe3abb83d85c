/** Erases a tenant. */
import type { OperationView } from "holdfast";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { count, many } from "../output/words.ts";
import { endWords, watch } from "./bulk.ts";
import { WHY, YES } from "./shared-options.ts";

export const erase: Command = {
  name: "erase",
  args: "<group>",
  summary: "erases a tenant: jobs, ledger entries and locks of a group",
  about:
    "An operation, which survives this process. A job that runs is asked to stop first. Who did it and why stays in the audit.",
  examples: ['erase tenant-7 --reason "asked for" --yes'],
  options: [...WHY, YES],
  async run(cli, { args: [group] }) {
    const name = clean(group);
    await cli.confirm(`Erase the jobs, ledger entries and locks of group ${name}, for good?`);
    const hf = await cli.open();
    const operation = await hf.erase({ group: String(group) }, cli.why);
    const last = await watch(cli, hf, operation);
    cli.print(last, () => erasedWords(last));
    return last.state === "finished" ? ExitCode.ok : ExitCode.failed;
  },
};

function erasedWords(last: OperationView): string {
  if (last.state !== "finished") return endWords(last);
  const { entries = 0, locks = 0 } = last.erased ?? {};
  const parts = `${many(last.done, "job")}, ${count(entries)} in the ledger, ${many(locks, "lock")}`;
  return `Erased: ${parts}.`;
}
