/** From one store to another, verified, and again after a kill. */
import { Holdfast, type Store } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { hideCredentials } from "holdfast/env";
import { exportJobs, moveJobs } from "holdfast/move";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { count, many } from "../output/words.ts";
import { DRY_RUN, YES } from "./shared-options.ts";

export const move: Command = {
  name: "move",
  summary: "copies all jobs to another store, with ids, due times, attempts and keys",
  about:
    "Stop the workers first. Every queue of the old store is paused, so that no job runs twice; its jobs stay there. Run it again after a kill or an outage: what is there already is not copied twice. Schedules, gates, settings, locks and limits come along.",
  examples: ["move --to sqlite:other.db --dry-run", "move --to sqlite:other.db --finished --yes"],
  options: [
    { flags: "--to <url>", about: "the new store" },
    { flags: "--finished", about: "succeeded and cancelled jobs, too" },
    { flags: "--ledger", about: "the ledger of failures and audits, too" },
    { flags: "-q, --queue <name>", about: "only this queue; may be repeated", repeats: true },
    ...[DRY_RUN, YES],
  ],
  async run(cli) {
    const { to: target, finished, ledger, queue } = cli.flags;
    if (typeof target !== "string") {
      throw new CliError(ExitCode.usage, "move needs --to with the URL of the new store");
    }
    const from = await cli.store();
    await from.open();
    cli.closeLater(() => from.close());
    const queues = queue as readonly string[] | undefined;
    if (queues !== undefined) await refuseUnknownQueues(from, queues);
    await refuseWorkers(from);
    const options = { finished: finished === true, ...(queues !== undefined && { queues }) };
    const [here, there] = [hideCredentials(await cli.url()), hideCredentials(target)];
    if (cli.flags["dryRun"] === true) {
      let jobs = 0;
      for await (const page of exportJobs(from, options)) jobs += page.length;
      return cli.print({ jobs, from: here, to: there }, () => {
        return `Would copy ${many(jobs, "job")} from ${clean(here)} to ${clean(there)}.`;
      });
    }
    await cli.confirm(`Pause every queue of ${here} and copy its jobs to ${there}?`);
    const to = await storeOfUrl(cli.absolute(target));
    await to.open();
    cli.closeLater(() => to.close());
    const progress = cli.progress();
    const report = await moveJobs({
      ...options,
      ...{ from, to, ledger: ledger === true, reason: `to ${there}` },
      onProgress: ({ phase, done, of }) => progress.show(done, of, phase),
    }).finally(() => progress.end());
    const isSame = report.different.length === 0;
    cli.print(report, () =>
      [
        `${many(report.jobs, "job")}: ${count(report.added)} copied, ${count(report.there)} were there already.`,
        ...(report.gone > 0 ? [`${many(report.gone, "job")} had been removed there.`] : []),
        ...(report.withoutKey > 0
          ? [`${many(report.withoutKey, "job")} came without a key: another job has it.`]
          : []),
        `${many(report.records, "record")} and ${count(report.entries)} entries of the ledger.`,
        isSame
          ? `Verified: checksum ${report.checksums.to} in both stores.`
          : `They differ: ${report.checksums.from} here, ${report.checksums.to} there; for example ${report.different.slice(0, 3).map(clean).join(", ")}. Jobs that ran there since are different.`,
        `The queues of ${clean(here)} stay paused: point your programs to ${clean(there)}.`,
      ].join("\n"),
    );
    return isSame ? ExitCode.ok : ExitCode.failed;
  },
};

/** A misspelt queue has no jobs: the move would end well, and nothing would have come along. */
async function refuseUnknownQueues(from: Store, queues: readonly string[]): Promise<void> {
  const counted = new Set((await from.count()).map(({ queue }) => queue));
  for (const queue of queues) {
    if (counted.has(queue)) continue;
    // One without jobs may have limits and holds to take along.
    const { queue: state } = await from.lines(queue, { limit: 1, cursor: null });
    if (state !== null) continue;
    const parts = [...counted].filter((one) => one.startsWith(`${queue}:`)).toSorted();
    throw new CliError(
      ExitCode.notFound,
      `there is no queue ${clean(queue)} in the old store: nothing was done; ` +
        (parts.length > 0
          ? `name its parts: ${parts.map((part) => `--queue ${clean(part)}`).join(" ")}`
          : "holdfast queues lists them"),
    );
  }
}

/** A worker on the old store would run what the new one has, too. */
async function refuseWorkers(store: Store): Promise<void> {
  const hf = new Holdfast({ store: { ...store, close: async () => {} }, ledger: false });
  const workers = await hf.workers.list();
  await hf.close();
  if (workers.length === 0) return;
  throw new CliError(
    ExitCode.refused,
    `${many(workers.length, "worker")} of the old store ${workers.length === 1 ? "is" : "are"} running (${workers
      .slice(0, 3)
      .map(({ id }) => clean(id))
      .join(", ")}): stop them first. One that was killed is gone after 20 s.`,
  );
}
