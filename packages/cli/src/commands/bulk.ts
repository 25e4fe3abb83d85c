/**
 * Retry, cancel and remove: of jobs that are named, one by one; of jobs that a filter finds, as an operation,
 * which survives this process.
 */
import {
  JobNotFoundError,
  type Holdfast,
  type Operation,
  type OperationView,
  type Plan,
  type StartOptions,
} from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { count, many } from "../output/words.ts";
import { readDuration, readShare, readWhole } from "../settings/read-flags.ts";
import { jobColumns } from "./jobs.ts";
import { lendWorker } from "./lend-worker.ts";
import { DRY_RUN, FILTER, filterOf, readJson, WHY, YES } from "./shared-options.ts";

type Action = "retry" | "cancel" | "remove";

const PACE: Option = {
  ...{ flags: "--per-second <n>", about: "at most so many a second", read: readWhole },
};
const MOST: Option = { flags: "-n, --limit <n>", about: "at most so many", read: readWhole };
const RETRY: readonly Option[] = [
  { flags: "--attempts <n>", about: "how many each gets: a number, or full" },
  { flags: "--delay <duration>", about: "due so much later", read: readDuration },
];

export const retry: Command = {
  name: "retry",
  args: "[ids...]",
  summary: "runs dead or cancelled jobs again",
  examples: [
    "retry 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d22",
    "retry --status dead --type email.send --per-second 20 --yes",
    "retry --status dead --queue mail --dry-run",
  ],
  options: [
    ...[...FILTER, MOST, PACE, ...RETRY],
    { flags: "--payload <json>", about: "of one job: run it with another payload" },
    {
      flags: "--stop-at-failure-rate <share>",
      about: "stop once more than this share fails again",
      read: readShare,
    },
    ...[...WHY, DRY_RUN, YES],
  ],
  run: (cli, { args: [ids] }) => change(cli, "retry", ids as readonly string[]),
};

export const cancel: Command = {
  name: "cancel",
  args: "[ids...]",
  summary: "cancels queued jobs, and asks running ones to stop",
  examples: [
    "cancel 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21",
    'cancel --queue mail --tag beta --reason "beta is over" --yes',
  ],
  options: [...FILTER, MOST, PACE, ...WHY, DRY_RUN, YES],
  run: (cli, { args: [ids] }) => change(cli, "cancel", ids as readonly string[]),
};

export const remove: Command = {
  name: "remove",
  args: "[ids...]",
  summary: "forgets jobs for good, and frees their keys",
  examples: [
    "remove 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d23 --yes",
    "remove --status cancelled --since 7d --dry-run",
  ],
  options: [...FILTER, MOST, PACE, ...WHY, DRY_RUN, YES],
  run: (cli, { args: [ids] }) => change(cli, "remove", ids as readonly string[]),
};

async function change(cli: Cli, action: Action, ids: readonly string[]): Promise<ExitCode> {
  const filter = filterOf(cli.flags);
  const hasFilter = Object.keys(filter).length > 0;
  if (hasFilter === ids.length > 0) {
    throw new CliError(
      ExitCode.usage,
      `${action} takes ids, or a filter such as --status dead --queue mail, and not both`,
    );
  }
  refuseIdle(cli, ids);
  if (ids.length > 0) return changeEach(cli, action, ids);
  const hf = await cli.open();
  const { limit } = cli.flags;
  const plan = await hf.operations.plan({
    ...{ action, filter },
    ...(limit !== undefined && { limit: limit as number }),
  });
  return carryOut(cli, hf, plan);
}

const OF_AN_OPERATION = {
  ...{ limit: "--limit", perSecond: "--per-second", stopAtFailureRate: "--stop-at-failure-rate" },
} as const;

/** A flag that would be passed over is a mistake: who gave it expects something else than what would happen. */
function refuseIdle(cli: Cli, ids: readonly string[]): void {
  if (ids.length !== 1 && cli.flags["payload"] !== undefined) {
    throw new CliError(ExitCode.usage, "--payload is of one job: name it by its id");
  }
  const idle = Object.entries(OF_AN_OPERATION).find(([name]) => cli.flags[name] !== undefined);
  if (ids.length === 0 || idle === undefined) return;
  throw new CliError(
    ExitCode.usage,
    `${idle[1]} is of jobs that a filter finds, not of named ones`,
  );
}

async function changeEach(cli: Cli, action: Action, ids: readonly string[]): Promise<ExitCode> {
  if (cli.flags["dryRun"] === true) {
    cli.print({ action, ids }, () => `Would ${action} ${many(ids.length, "job")}.`);
    return ExitCode.ok;
  }
  if (action === "remove") await cli.confirm(`Remove ${many(ids.length, "job")} for good?`);
  const hf = await cli.open();
  const results: { id: string; result: string }[] = [];
  const tell = () =>
    cli.print(results, () => results.map(({ id, result }) => `${result} ${clean(id)}`).join("\n"));
  for (const id of ids) {
    // One that is not there must not hide what became of those before it, nor keep those behind it from their turn.
    const result = await changeOne(cli, hf, action, id).catch((error: unknown) => {
      if (error instanceof JobNotFoundError && ids.length > 1) return "missing";
      // Nobody could tell how far it came.
      if (results.length > 0) tell();
      throw error;
    });
    results.push({ id, result });
  }
  tell();
  if (results.some(({ result }) => result === "missing")) return ExitCode.notFound;
  return results.some(({ result }) => result === "refused") ? ExitCode.refused : ExitCode.ok;
}

function changeOne(cli: Cli, hf: Holdfast, action: Action, id: string): Promise<string> {
  switch (action) {
    case "cancel":
      return hf.cancel(id, cli.why);
    case "remove":
      return hf.remove(id, cli.why);
    case "retry": {
      const { attempts, delay, payload } = cli.flags;
      const number = attemptsOf(attempts);
      return hf.retry(id, {
        ...cli.why,
        ...(typeof number === "number" && { attempts: number }),
        ...(delay !== undefined && { delayMs: delay as number }),
        ...(payload !== undefined && { payload: readJson("the payload", String(payload)) }),
      });
    }
  }
}

function attemptsOf(text: unknown): number | "full" | undefined {
  if (text === undefined || text === "full") return text;
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new CliError(ExitCode.usage, "--attempts takes a whole number, or full");
}

/** Shows a plan, asks, starts it and watches it. Ctrl-C pauses it; `ops resume` goes on. */
export async function carryOut(cli: Cli, hf: Holdfast, plan: Plan): Promise<ExitCode> {
  const { flags } = cli;
  const sample = await cli.hide(plan.sample);
  const shown = { ...plan, sample, start: undefined };
  const words = `${plan.action} ${many(plan.count, "job")}${plan.isCut ? " (more match)" : ""}`;
  if (flags["dryRun"] === true) {
    cli.print(shown, () => planWords(cli, { ...plan, sample }, `Would ${words}.`));
    return ExitCode.ok;
  }
  if (plan.count === 0) {
    cli.print(shown, () => "No such jobs: nothing to do.");
    return ExitCode.ok;
  }
  if (!cli.isJson && cli.io.canAsk && flags["yes"] !== true) {
    cli.note(planWords(cli, { ...plan, sample }, ""));
  }
  await cli.confirm(`${words[0]?.toUpperCase()}${words.slice(1)}?`);
  const operation = await plan.start(startOptions(cli));
  const last = await watch(cli, hf, operation);
  cli.print(last, () => endWords(last));
  return ["finished", "settling"].includes(last.state) ? ExitCode.ok : ExitCode.failed;
}

function startOptions(cli: Cli): StartOptions {
  const { perSecond, attempts, delay, stopAtFailureRate } = cli.flags;
  const number = attemptsOf(attempts);
  return {
    ...cli.why,
    ...(perSecond !== undefined && { perSecond: perSecond as number }),
    ...(number !== undefined && { attempts: number }),
    ...(delay !== undefined && { delayMs: delay as number }),
    ...(stopAtFailureRate !== undefined && { stopAtFailureRate: stopAtFailureRate as number }),
  };
}

function planWords(cli: Cli, plan: Plan, head: string): string {
  // Jobs without an error have none.
  const categories = Object.entries(plan.byCategory).flatMap(([name, number]) =>
    name === "none" || name === "" ? [] : [`${clean(name)} ${count(number)}`],
  );
  return [
    head,
    categories.length > 0 ? `By category: ${categories.join(", ")}.` : "",
    plan.sample.length > 0 ? cli.table(plan.sample.slice(0, 5), jobColumns(Date.now())) : "",
  ]
    .filter((line) => line !== "")
    .join("\n");
}

const HELPER_QUEUE = "holdfast.cli";

/** Follows an operation to its end; of a replay, until every outcome is known or a person has seen enough. */
export async function watch(cli: Cli, hf: Holdfast, operation: Operation): Promise<OperationView> {
  const enough = await lendWorker(hf, {
    ...{ isServed: () => true, queue: HELPER_QUEUE },
    onLent: () => cli.note("No worker is running, so this command does the work itself."),
  });
  const progress = cli.progress();
  let last: OperationView = operation;
  const stopping: { pausing: Promise<void> | null } = { pausing: null };
  const stop = cli.io.onStop(() => {
    stopping.pausing ??= operation.pause().catch(() => {});
  });
  try {
    for await (const step of operation.watch()) {
      last = step;
      const words = step.failedAgain > 0 ? `${count(step.failedAgain)} failed again` : step.state;
      progress.show(step.done + step.refused + step.missing, step.of, words);
      if (stopping.pausing !== null || step.state === "paused" || step.state === "settling") break;
    }
    if (stopping.pausing === null) return last;
    await stopping.pausing;
    return await hf.operations.get(operation.id);
  } finally {
    enough();
    stop();
    progress.end();
  }
}

export function endWords(last: OperationView): string {
  const parts = [
    `${count(last.done)} of ${count(last.of)} done`,
    ...(last.refused > 0 ? [`${count(last.refused)} refused`] : []),
    ...(last.missing > 0 ? [`${count(last.missing)} gone before`] : []),
    ...(last.failedAgain > 0 ? [`${count(last.failedAgain)} failed again`] : []),
  ];
  const goesOn =
    last.state === "paused"
      ? `\nIt is paused: holdfast ops resume ${last.id} goes on, holdfast ops abort ${last.id} ends it.`
      : last.state === "settling"
        ? `\nHow the jobs end is counted as they end: holdfast ops show ${last.id}`
        : "";
  return `${last.action} ${last.state === "settling" ? "done" : last.state}: ${parts.join(", ")}.${goesOn}`;
}
