/** What people were told without asking. */
import type { AlertKind } from "holdfast";
import type { Command } from "../command.ts";
import { ago } from "../output/words.ts";
import { moreWords } from "./jobs.ts";
import { CURSOR, LIMIT, pageOf } from "./shared-options.ts";

const KINDS: readonly AlertKind[] = [
  ...(["spike", "lag", "depth", "memory", "dead", "unrecoverable", "operation"] as const),
];

export const alerts: Command = {
  name: "alerts",
  summary: "lists alerts, newest first",
  examples: ["alerts", "alerts --kind dead --queue mail"],
  options: [
    { flags: "--kind <kind>", about: "of this kind", choices: KINDS },
    { flags: "-q, --queue <name>", about: "of this queue" },
    ...[LIMIT, CURSOR],
  ],
  async run(cli) {
    const { kind, queue } = cli.flags;
    const hf = await cli.open();
    const page = await hf.alerts.list({
      ...(kind !== undefined && { kind: kind as AlertKind }),
      ...(queue !== undefined && { queue: queue as string }),
      ...pageOf(cli.flags),
    });
    const now = Date.now();
    cli.print(page, () =>
      page.alerts.length === 0
        ? "No alerts."
        : cli.table(page.alerts, [
            { title: "WHEN", value: ({ at }) => ago(at, now) },
            { title: "KIND", value: (alert) => alert.kind },
            {
              title: "QUEUE",
              value: (alert) => ("queue" in alert ? alert.queue : null),
              atLeast: 6,
            },
            { title: "MESSAGE", value: ({ message }) => message, atLeast: 20 },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};
