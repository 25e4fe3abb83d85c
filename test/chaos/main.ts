/** `npm run chaos -- --store sqlite`: real processes, real signals, one verdict. */
import { randomInt } from "node:crypto";
import { parseOptions, USAGE, type ChaosOptions } from "./chaos-options.ts";
import type { Progress } from "./chaos.ts";
import { runChaos } from "./run-chaos.ts";
import { verdictTable } from "./verdict-table.ts";

const SAY_EVERY_MS = 10_000;

const options = optionsOrExit();
console.log(`seed ${options.seed}`);
// The children and the folder are cleaned up when this process exits, however it does.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const run = await runChaos(options, progressLine(options));
if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
console.log(`\n${verdictTable(run, options)}`);
if (run.folder !== null) console.log(`Everything is in ${run.folder}`);
process.exitCode = run.verdict.findings.length === 0 ? 0 : 1;

function optionsOrExit(): ChaosOptions {
  try {
    return parseOptions(process.argv.slice(2), randomInt(1_000_000));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** One line that changes in a terminal; a line now and then elsewhere. */
function progressLine(planned: ChaosOptions): (progress: Progress) => void {
  let saidAtMs = -SAY_EVERY_MS;
  return ({ elapsedMs, enqueued, finished, workers, done }) => {
    const line =
      `${(elapsedMs / 1000).toFixed(0)} s  enqueued ${enqueued}  finished ${finished}  ` +
      `kills ${done.kill}/${planned.kills}  stops ${done.stop}/${planned.stops}  ` +
      `graceful ${done.terminate}/${planned.terms}  workers ${workers}/${planned.workers}`;
    if (process.stdout.isTTY) {
      process.stdout.write(`\r\u001b[K${line}`);
    } else if (elapsedMs - saidAtMs >= SAY_EVERY_MS) {
      saidAtMs = elapsedMs;
      console.log(line);
    }
  };
}
