/** `npm run chaos -- --store sqlite`: real processes, real signals, real servers, one verdict. */
import { randomInt } from "node:crypto";
import { parseOptions, USAGE, type ChaosOptions } from "./chaos-options.ts";
import type { Progress } from "./chaos.ts";
import { comparisonTable, type StoreRun } from "./comparison-table.ts";
import { runChaos } from "./run-chaos.ts";
import { verdictTable } from "./verdict-table.ts";

const SAY_EVERY_MS = 10_000;

const planned = optionsOrExit();
console.log(`seed ${planned[0]!.seed}`);
// The children and the folder are cleaned up when this process exits, however it does.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const runs: StoreRun[] = [];
for (const options of planned) {
  const run = await runChaos(options, progressLine(options));
  if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
  console.log(`\n${verdictTable(run, options)}\n`);
  if (run.folder !== null) console.log(`Everything is in ${run.folder}`);
  if (run.verdict.findings.length > 0) process.exitCode = 1;
  runs.push({ store: options.store, run });
}
if (runs.length > 1) console.log(comparisonTable(runs));

function optionsOrExit(): ChaosOptions[] {
  try {
    return parseOptions(process.argv.slice(2), randomInt(1_000_000));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** One line that changes in a terminal; a line now and then elsewhere. */
function progressLine(plan: ChaosOptions): (progress: Progress) => void {
  let saidAtMs = -SAY_EVERY_MS;
  return ({ elapsedMs, enqueued, finished, workers, done }) => {
    const struck = done["restart server"] + done["kill server"] + done.outage;
    const server = struck + done["fail over"] + done["move slots"];
    const serverPlan =
      plan.restarts + plan.serverKills + plan.outages + plan.failovers + plan.moves;
    const kills = done.kill + done["kill after commit"];
    const line =
      `${(elapsedMs / 1000).toFixed(0)} s  enqueued ${enqueued}  finished ${finished}  ` +
      `kills ${kills}/${plan.kills + plan.commitKills}  stops ${done.stop}/${plan.stops}  ` +
      `graceful ${done.terminate}/${plan.terms}  cut off ${done["cut off"]}/${plan.faults}  ` +
      `server ${server}/${serverPlan}  workers ${workers}/${plan.workers}`;
    if (process.stdout.isTTY) {
      process.stdout.write(`\r\u001b[K${line}`);
    } else if (elapsedMs - saidAtMs >= SAY_EVERY_MS) {
      saidAtMs = elapsedMs;
      console.log(line);
    }
  };
}
