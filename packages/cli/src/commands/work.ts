/** Runs a worker until it is told to stop. */
import { StoreUnavailableError, type Holdfast } from "holdfast";
import { hideCredentials, optionsOf } from "holdfast/env";
import type { Cli } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { logEvents, pinoLogger } from "../output/log-lines.ts";
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
    { flags: "--until-empty", about: "end once nothing is ready or running in its queues" },
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
    const isOver = new AbortController();
    // A signal is heard in any case: unheard it would kill what runs.
    await Promise.race([
      stopped(cli),
      ...(cli.flags["untilEmpty"] === true ? [empty(hf, worker.id, isOver.signal)] : []),
    ]).finally(() => isOver.abort());
    logger.info("stopping: running jobs may finish", { event: "work:stop", worker: worker.id });
    await hf.close();
    logger.info("stopped", { event: "work:end" });
  },
};

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
async function empty(hf: Holdfast, worker: string, isOver: AbortSignal): Promise<void> {
  for (let quiet = 0; quiet < 2 && !isOver.aborted;) {
    quiet = (await isIdle(hf, worker)) ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, EMPTY_LOOK_MS));
  }
}

/** What waits in queues that this worker does not take is not its to wait for. */
async function isIdle(hf: Holdfast, worker: string): Promise<boolean> {
  try {
    const [counts, workers] = await Promise.all([hf.counts(), hf.workers.list()]);
    const own = workers.find(({ id }) => id === worker);
    if (own === undefined) return false;
    return own.queues.every((queue) => {
      const { ready = 0, processing = 0 } = counts[queue] ?? {};
      return ready + processing === 0;
    });
  } catch (error) {
    // The worker lives through an outage, and so does who waits for it.
    if (error instanceof StoreUnavailableError) return false;
    throw error;
  }
}
