/** Adds a job by hand. */
import type { EnqueueOptions, Holdfast } from "holdfast";
import type { Cli, Flags } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean, safeJson } from "../output/clean.ts";
import { readDuration, readWhen, readWhole } from "../settings/read-flags.ts";
import { readPayload } from "./shared-options.ts";

export const enqueue: Command = {
  name: "enqueue",
  args: "<type> [payload]",
  summary: "adds a job",
  about:
    "The payload is JSON; - reads it from the pipe, and one that is left out is {}. The queue is that of the type in --jobs, else of the live worker that has the type; else name it.",
  examples: [
    `enqueue hello.say '{"name":"Ann"}' --queue default`,
    `enqueue email.send '{"to":"ann@example.com"}' --queue mail --delay 5m --key welcome-ann`,
  ],
  options: [
    { flags: "-q, --queue <name>", about: "where it waits" },
    { flags: "-g, --group <group>", about: "its group in the queue" },
    { flags: "--priority <n>", about: "0 to 8191, lower first (default 100)", read: readWhole },
    { flags: "--delay <duration>", about: "not before: 90s, 5m, 2h", read: readDuration },
    { flags: "--at <date>", about: "due at this time", read: readWhen },
    { flags: "--key <text>", about: "its idempotency key" },
    { flags: "--max-attempts <n>", about: "attempts in all", read: readWhole },
    { flags: "--tag <tag>", about: "a tag; may be repeated", repeats: true },
    { flags: "--jobs <file>", about: "the module that defines the jobs: checks the payload" },
    {
      flags: "--wait [duration]",
      about: "wait for its end, and say how it ended",
      read: readDuration,
    },
  ],
  async run(cli, { args: [type, given] }) {
    const { flags } = cli;
    const payload = await readPayload(cli, given);
    const hf = await cli.open({ makesFile: true, withJobs: true });
    const options = optionsOf(flags);
    const receipt = await hf.enqueue(String(type), payload as never, {
      ...options,
      ...(options.queue === undefined && (await queueOf(cli, hf, String(type)))),
    });
    const { id, status } = receipt;
    if (flags["wait"] === undefined) {
      return cli.print({ id, status }, () => `${status} ${clean(id)}`);
    }
    const patience = typeof flags["wait"] === "number" ? flags["wait"] : 60_000;
    const ended = await hf.waitFor(id, { timeoutMs: patience });
    cli.print(ended, () => {
      if (ended.status === "succeeded") return `succeeded ${safeJson(ended.result)}`;
      return `${ended.status} ${"reason" in ended ? clean(ended.reason ?? "") : ""}`.trim();
    });
    return ended.status === "succeeded" ? ExitCode.ok : ExitCode.failed;
  },
};

function optionsOf(flags: Flags): EnqueueOptions {
  const names = {
    ...{ queue: "queue", group: "group", priority: "priority", delay: "delayMs", at: "runAt" },
    ...{ key: "idempotencyKey", maxAttempts: "maxAttempts", tag: "tags" },
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([flag, option]) =>
      flags[flag] === undefined ? [] : [[option, flags[flag]]],
    ),
  );
}

/** A job in a queue that no worker of its type leases would wait for ever. */
export async function queueOf(cli: Cli, hf: Holdfast, type: string): Promise<{ queue?: string }> {
  const { values } = await cli.settings();
  if (values.jobs !== undefined) return {};
  const workers = (await hf.workers.list()).filter(({ types }) => types.includes(type));
  const queues = new Set(workers.flatMap((worker) => worker.queues));
  if (queues.size === 1) return { queue: [...queues][0] as string };
  throw new CliError(
    ExitCode.usage,
    queues.size === 0
      ? `no live worker has the type ${clean(type)}, so its queue is not known: name it with --queue`
      : `workers of the type ${clean(type)} lease from ${[...queues].map(clean).join(", ")}: name one with --queue`,
  );
}
