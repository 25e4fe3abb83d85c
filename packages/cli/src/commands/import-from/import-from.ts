/** From another job system: waiting, delayed, repeating and failed jobs. Nothing is deleted or changed there. */
import { Holdfast } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { hideCredentials } from "holdfast/env";
import type { Cli } from "../../cli.ts";
import type { Command } from "../../command.ts";
import { CliError, ExitCode } from "../../exit-code.ts";
import { clean } from "../../output/clean.ts";
import { many } from "../../output/words.ts";
import { DRY_RUN, YES } from "../shared-options.ts";
import { agenda } from "./agenda.ts";
import { bullmq } from "./bullmq.ts";
import { graphileWorker } from "./graphile-worker.ts";
import { pgBoss } from "./pg-boss.ts";
import { SYSTEMS, type Source, type SourceOptions, type System } from "./source.ts";
import { nameOf, takeOver, type Taken } from "./take-over.ts";
import { takeSchedules, type TakenSchedules } from "./take-schedules.ts";

const SOURCES: Readonly<Record<System, (options: SourceOptions) => Promise<Source>>> = {
  ...{ bullmq, "pg-boss": pgBoss, agenda, "graphile-worker": graphileWorker },
};

export const importFrom: Command = {
  name: "import-from",
  args: "<system>",
  summary: `takes jobs over from ${SYSTEMS.join(", ")}`,
  about:
    "Stop the workers of the other system first, and its producers or point them to Holdfast. Look with --dry-run. Waiting, delayed and failed jobs come with their payloads, due times and attempts, what repeats comes as schedules; nothing is changed there. Run it again after a kill: what is here already is not taken twice. A job's type is its name there, with - in place of what a name here cannot have; BullMQ's queues keep their names, other jobs go to the queue default unless --queue says otherwise.",
  examples: ["import-from bullmq --from {redis} --to sqlite:jobs.db --dry-run"],
  options: [
    { flags: "--from <url>", about: "where the other system keeps its jobs" },
    { flags: "--to <url>", about: "the store they come to; default: --url" },
    {
      flags: "--at <name>",
      about: "its prefix (bull), schema (pgboss, graphile_worker) or collection (agendaJobs)",
    },
    {
      flags: "-q, --queue <name>",
      about: "the queue here, or type=queue for one type; may be repeated",
      repeats: true,
    },
    ...[DRY_RUN, YES],
  ],
  async run(cli, { args: [given] }) {
    const system = SYSTEMS.find((one) => one === given);
    if (system === undefined) {
      throw new CliError(ExitCode.usage, `import-from knows ${SYSTEMS.join(", ")}`);
    }
    const { from, at } = cli.flags;
    if (typeof from !== "string") {
      throw new CliError(
        ExitCode.usage,
        "import-from needs --from with the URL of the other system",
      );
    }
    const queueOf = queuesOf(cli.flags["queue"] as readonly string[] | undefined);
    const source = await opened(system, { url: from, at: at as string | undefined });
    cli.closeLater(() => source.close());
    const isDry = cli.flags["dryRun"] === true;
    const running = await source.running();
    if (running > 0 && !isDry) {
      throw new CliError(
        ExitCode.refused,
        `${many(running, "job")} of ${system} ${running === 1 ? "is" : "are"} running: stop its workers, wait until they have ended, then import`,
      );
    }
    const hf = isDry ? null : await target(cli, system, from);
    const progress = cli.progress();
    const onProgress = (done: number) => progress.show(done, null, "import");
    const to = hf?.store ?? null;
    const taken = await takeOver(source, { system, queueOf, to, onProgress }).finally(() =>
      progress.end(),
    );
    const schedules = await takeSchedules(source, { hf: hf?.hf ?? null, queueOf, system });
    const left = (await source.left()).filter(({ count }) => count > 0);
    const isWhole = taken.missing.length === 0;
    cli.print({ system, dryRun: isDry, running, ...taken, schedules, left }, () =>
      [
        ...wordsOf(taken, schedules, isDry),
        ...(running > 0 ? [`${many(running, "job")} run there now: stop its workers first.`] : []),
        ...left.map(({ what, count }) => `Left behind: ${count} ${what}.`),
        ...schedules.refused.map((one) => `Left behind: schedule ${clean(one)}.`),
      ].join("\n"),
    );
    return isWhole ? ExitCode.ok : ExitCode.failed;
  },
};

function wordsOf(taken: Taken, schedules: TakenSchedules, isDry: boolean): string[] {
  const { waiting, delayed, failed, added, there, missing, byType } = taken;
  const all = waiting + delayed + failed;
  const types = Object.entries(byType).map(([type, count]) => `  ${clean(type)}: ${count}`);
  const counts = `${waiting} waiting, ${delayed} delayed, ${failed} failed`;
  if (isDry) {
    return [
      `Would take over ${many(all, "job")} (${counts}) and ${many(schedules.found, "schedule")}.`,
      ...types,
    ];
  }
  return [
    `${many(all, "job")} (${counts}): ${added} taken over, ${there} were here already.`,
    ...types,
    `${many(schedules.set, "schedule")}.`,
    missing.length === 0
      ? `Verified: every one of them is here. Nothing was changed there.`
      : `Not here as they are there: ${missing.map(clean).join(", ")}.`,
  ];
}

async function opened(system: System, options: SourceOptions): Promise<Source> {
  try {
    return await SOURCES[system](options);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { message } = error as Error;
    throw new CliError(
      ExitCode.storeAway,
      `${system} at ${hideCredentials(options.url)} cannot be read: ${clean(message)}`,
    );
  }
}

async function target(cli: Cli, system: System, from: string) {
  const given = cli.flags["to"];
  const url = cli.absolute(typeof given === "string" ? given : await cli.url());
  const [there, here] = [hideCredentials(from), hideCredentials(url)];
  await cli.confirm(`Take the jobs of ${system} at ${there} over to ${here}?`);
  const store = await storeOfUrl(url);
  const hf = new Holdfast({ store, logger: cli.logger() });
  cli.closeLater(() => hf.close());
  await hf.info();
  return { hf: hf as Holdfast, store };
}

/** `mail`, or `welcome=mail` for one type. */
function queuesOf(
  given: readonly string[] = [],
): (job: { readonly type: string; readonly queue: string | null }) => string {
  const byType = new Map<string, string>();
  let rest: string | null = null;
  for (const one of given) {
    const [type, queue] = one.split("=", 2);
    const named = queue ?? one;
    // In a queue that no name leads to, jobs would wait for ever.
    if (named === "" || nameOf(named) !== named) {
      throw new CliError(
        ExitCode.usage,
        `--queue ${clean(one)} names no queue: use 1 to 128 letters, digits and _ . : - and begin with a letter or a digit`,
      );
    }
    if (queue === undefined) rest = one;
    else byType.set(type ?? "", queue);
  }
  return ({ type, queue }) => byType.get(type) ?? rest ?? nameOf(queue ?? "default");
}
