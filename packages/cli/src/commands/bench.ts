/** How fast a store takes and runs jobs, here. */
import { Holdfast } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { hideCredentials } from "holdfast/env";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { count } from "../output/words.ts";
import { readWhole } from "../settings/read-flags.ts";
import { YES } from "./shared-options.ts";

const QUEUE = "holdfast.bench";
const BATCH = 200;

export const bench: Command = {
  name: "bench",
  summary: "measures how fast a store takes and runs jobs",
  about:
    "Takes the store from --url only, never from the environment or a file, so that it cannot meet production by accident. Its jobs are of a queue of their own, and are not kept.",
  examples: ["bench --url sqlite:bench.db --jobs 500 --yes"],
  options: [
    { flags: "--jobs <n>", about: "how many jobs (default 10,000)", read: readWhole },
    {
      flags: "-c, --concurrency <n>",
      about: "how many run at once (default 100)",
      read: readWhole,
    },
    YES,
  ],
  async run(cli) {
    const {
      url,
      jobs = 10_000,
      concurrency = 100,
    } = cli.flags as {
      readonly url?: string;
      readonly jobs?: number;
      readonly concurrency?: number;
    };
    if (url === undefined) throw new CliError(ExitCode.usage, "bench needs --url, said here");
    if (jobs < 1 || concurrency < 1) {
      throw new CliError(
        ExitCode.usage,
        "bench needs a job, and a slot to run it: 1 or more of each",
      );
    }
    await cli.confirm(`Put ${count(jobs)} jobs into ${hideCredentials(url)}?`);
    const hf = new Holdfast({
      store: await storeOfUrl(cli.absolute(url)),
      ledger: false,
      retention: { queues: { [QUEUE]: { succeeded: { maxCount: 0 } } } },
    });
    cli.closeLater(() => hf.close());
    let done = 0;
    let finish: () => void = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const nothing = hf.define({ type: "holdfast.bench", queue: QUEUE, run: () => {} });
    hf.on("succeeded", () => {
      if (++done === jobs) finish();
    });
    await hf.info();
    const started = performance.now();
    for (let from = 0; from < jobs; from += BATCH) {
      const size = Math.min(BATCH, jobs - from);
      await hf.enqueueAll(Array.from({ length: size }, (_, at) => nothing.of({ n: from + at })));
    }
    const enqueuedMs = performance.now() - started;
    const begun = performance.now();
    await hf.work({ queues: [QUEUE], concurrency });
    await finished;
    const ranMs = performance.now() - begun;
    const report = {
      ...{ store: (await hf.info()).version, jobs, concurrency },
      enqueuedPerSecond: Math.round((jobs / enqueuedMs) * 1_000),
      ranPerSecond: Math.round((jobs / ranMs) * 1_000),
    };
    cli.print(report, () =>
      [
        `${report.store}, ${count(jobs)} jobs, ${concurrency} at once`,
        `enqueued ${count(report.enqueuedPerSecond)} a second, ran ${count(report.ranPerSecond)} a second`,
      ].join("\n"),
    );
  },
};
