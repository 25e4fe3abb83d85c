/** Runs a worker until it is told to stop. */
import { pino, type DestinationStream } from "pino";
import type { Holdfast, Logger } from "holdfast";
import { hideCredentials, optionsOf } from "holdfast/env";
import type { Cli } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { duration } from "../output/words.ts";
import { readWhole } from "../settings/read-flags.ts";

export const WORK_OPTIONS: readonly Option[] = [
  { flags: "--queues <names>", about: "only these queues: mail,default" },
  {
    flags: "-c, --concurrency <n>",
    about: "how many jobs run at once (default 10)",
    read: readWhole,
  },
  {
    flags: "--lease-ms <n>",
    about: "how long a job is the worker's without renewal",
    read: readWhole,
  },
  { flags: "--renew-ms <n>", about: "how often leases are renewed", read: readWhole },
  { flags: "--poll-ms <n>", about: "longest wait for work without a wakeup", read: readWhole },
  { flags: "--grace-ms <n>", about: "how long a stop waits for what runs", read: readWhole },
  { flags: "--app-version <text>", about: "your name for the code that runs" },
  {
    flags: "--log-level <level>",
    about: "which lines are logged (default info)",
    choices: ["debug", "info", "warn", "error", "silent"],
  },
];

export const work: Command = {
  name: "work",
  summary: "runs a worker until Ctrl-C or SIGTERM",
  about:
    "The module of --jobs exports a function jobs(hf) that defines the jobs, or a Holdfast of its own (hf). TypeScript is loaded as it is. The first signal lets running jobs finish, a second one ends at once.",
  examples: ["work --jobs ./jobs.ts", "work --jobs ./jobs.ts --queues mail --concurrency 20"],
  options: [
    { flags: "--jobs <file>", about: "the module that defines the jobs" },
    ...WORK_OPTIONS,
    { flags: "--until-empty", about: "end once nothing is ready or running" },
  ],
  async run(cli) {
    const { values, warnings } = await cli.settings();
    if (values.jobs === undefined) {
      throw new CliError(
        ExitCode.usage,
        "work needs the module that defines the jobs: --jobs ./jobs.ts, or jobs in holdfast.config.ts; holdfast init makes both",
      );
    }
    for (const warning of warnings) cli.note(`holdfast: ${warning}`);
    const logger = pinoLogger(cli, values.logLevel ?? "info");
    const hf = await cli.open({ makesFile: true, withJobs: true, logger });
    logEvents(hf, logger);
    const worker = await hf.work(optionsOf(values).work);
    const url = hideCredentials(await cli.url());
    logger.info("working", { event: "work:start", store: url, worker: worker.id });
    await (cli.flags["untilEmpty"] === true ? empty(hf) : stopped(cli));
    logger.info("stopping: running jobs may finish", { event: "work:stop", worker: worker.id });
    await hf.close();
    logger.info("stopped", { event: "work:end" });
  },
};

/** JSON lines for machines; short lines for a person at a terminal. No payloads in either. */
export function pinoLogger(cli: Cli, level: string): Logger {
  const { stdout } = cli.io;
  const destination: DestinationStream = {
    write: (line) => void stdout.write(stdout.isTTY && !cli.isJson ? readable(cli, line) : line),
  };
  const log = pino({ level, base: { pid: process.pid } }, destination);
  const say =
    (word: "debug" | "info" | "warn" | "error") =>
    (message: string, details: object = {}): void => {
      const { error, ...others } = details as { readonly error?: unknown };
      log[word]({ ...others, ...(error !== undefined && { err: error }) }, message);
    };
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
}

const LEVELS: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

function readable(cli: Cli, line: string): string {
  const {
    time,
    level,
    msg,
    pid: _,
    event: __,
    err,
    ...rest
  } = JSON.parse(line) as Record<string, unknown>;
  const { paint } = cli;
  const word = (LEVELS[Number(level)] ?? "").padEnd(5);
  const dress = level === 50 ? paint.red : level === 40 ? paint.yellow : paint.dim;
  const details = Object.entries(rest).map(([name, value]) => `${name}=${String(value)}`);
  const { message } = Object(err) as { readonly message?: string };
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const words = [msg, ...(message === undefined ? [] : [message]), paint.dim(details.join(" "))];
  return `${paint.dim(at)} ${dress(word)} ${words.join(" ").trimEnd()}\n`;
}

/** One line for each start, end, retry, reap and loss. The names of the fields are a promise. */
export function logEvents(hf: Holdfast, logger: Logger): void {
  type About = { readonly id: string; readonly type: string; readonly queue: string };
  const about = ({ id, type, queue }: About) => ({ job: id, type, queue });
  hf.on("started", (event) => {
    const { attempt, worker, waitedMs } = event;
    logger.debug("started", {
      ...{ event: "job:start", ...about(event), attempt, worker, waitedMs: Math.round(waitedMs) },
    });
  });
  hf.on("succeeded", (event) => {
    const { attempt, worker } = event;
    const ranMs = Math.round(event.ranMs);
    const took = `succeeded in ${duration(ranMs)}`;
    logger.info(took, { event: "job:succeeded", ...about(event), attempt, worker, ranMs });
  });
  hf.on("failed", (event) => {
    if (!event.willRetry) return;
    const { attempt, worker, retryInMs, failure } = event;
    logger.warn(`failed, again in ${duration(retryInMs ?? 0)}: ${failure.message}`, {
      ...{ event: "job:retry", ...about(event), attempt, worker, retryInMs },
      category: failure.category,
    });
  });
  hf.on("dead", (event) => {
    const { attempt, worker, reason, category, failure } = event;
    logger.error(`dead: ${failure.message}`, {
      ...{ event: "job:dead", ...about(event), attempt, worker, reason, category },
    });
  });
  hf.on("cancelled", (event) => {
    logger.info("cancelled", { event: "job:cancelled", ...about(event), reason: event.reason });
  });
  hf.on("lost", (event) => {
    logger.warn("its lease was lost", { event: "job:lost", ...about(event), worker: event.worker });
  });
  hf.on("abandoned", (event) => {
    logger.warn("its handler goes on after the end", { event: "job:abandoned", ...about(event) });
  });
  hf.on("reaped", ({ count, workers }) => {
    logger.warn("leases ran out", { event: "reap", count, workers: workers.join(",") });
  });
}

export async function stopped(cli: Cli): Promise<void> {
  let signals = 0;
  await new Promise<void>((resolve) => {
    cli.io.onStop(() => {
      signals++;
      if (signals === 1) resolve();
      // A person who asks twice does not want to wait.
      else process.exit(130);
    });
  });
}

const EMPTY_LOOK_MS = 200;

/** Nothing ready and nothing running, twice in a row: a job may just be on its way from one to the other. */
async function empty(hf: Holdfast): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const counts = Object.values(await hf.counts());
    const isIdle = counts.every(({ ready, processing }) => ready + processing === 0);
    quiet = isIdle ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, EMPTY_LOOK_MS));
  }
}
