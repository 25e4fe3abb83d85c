/** Why a job does not run. */
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";

export const why: Command = {
  name: "why",
  args: "<id>",
  summary: "says why a job does not run, and what would end that",
  examples: ["why 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21"],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const found = await hf.why(String(id));
    const { redact } = hf.tools;
    const reasons = found.reasons.map((one) => ({ ...one, message: redact.text(one.message) }));
    const answer = { ...found, summary: redact.text(found.summary), reasons };
    cli.print(answer, () => {
      if (reasons.length === 0) return clean(answer.summary);
      return reasons
        .map(({ message, remedy }) => `${clean(message)}\n  → ${clean(remedy)}`)
        .join("\n");
    });
  },
};
