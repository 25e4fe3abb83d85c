/** What the fleet did lately. */
import type { Durations } from "holdfast";
import type { Command } from "../command.ts";
import { count, duration } from "../output/words.ts";
import { readDuration } from "../settings/read-flags.ts";

export const stats: Command = {
  name: "stats",
  summary: "what the fleet did lately: counts, waits, run times, what fails most",
  examples: ["stats", "stats --queue mail --last 24h"],
  options: [
    { flags: "-q, --queue <name>", about: "of this queue" },
    { flags: "-t, --type <type>", about: "of this type" },
    { flags: "--last <duration>", about: "so far back (default 1h)", read: readDuration },
  ],
  async run(cli) {
    const hf = await cli.open();
    const { queue, type, last } = cli.flags;
    const found = await hf.stats({
      ...(queue !== undefined && { queue: queue as string }),
      ...(type !== undefined && { type: type as string }),
      ...(last !== undefined && { lastMs: last as number }),
    });
    const { succeeded, dead, cancelled } = found.finished;
    const times = ({ avg, p50, p95, p99 }: Durations) =>
      `${duration(p50)} half, ${duration(p95)} 95 %, ${duration(p99)} 99 %, ${duration(avg)} on average`;
    cli.print(found, () =>
      [
        `finished   ${count(succeeded)} succeeded, ${count(dead)} dead, ${count(cancelled)} cancelled`,
        `retried    ${count(found.retried)}, ${count(found.failedLastHour)} failures in the last hour`,
        `waited     ${times(found.waitMs)}`,
        `ran        ${times(found.runMs)}`,
        `oldest     ${found.oldestReadyMs === null ? "nothing waits" : duration(found.oldestReadyMs)}`,
        ...(found.topFailing.length > 0
          ? [
              "",
              cli.table(found.topFailing, [
                { title: "FAILS MOST", value: (one) => one.type, atLeast: 10 },
                { title: "FAILED", value: (one) => count(one.failed), align: "right" },
                { title: "DEAD", value: (one) => count(one.dead), align: "right" },
              ]),
            ]
          : []),
        ...(found.source === "ledger"
          ? ["The store is away: these are the ledger's figures."]
          : []),
      ].join("\n"),
    );
  },
};
