/**
 * The dashboard before a full store, in a real browser: `npm run bench:dashboard -- [--store sqlite] [--jobs 1000000]`.
 *
 *   --store <name>   sqlite (default) or postgres, a server of its own
 *   --url <url>      a PostgreSQL server of this machine instead; a database of its own is made there, and removed
 *   --jobs <n>       how many jobs are in the store, 1,000,000 by default: all statuses, 10,000 groups
 *   --minutes <n>    how long three tabs stay open, 10 by default
 *   --folder <path>  on which file system, the system's temporary folder by default
 *
 * Each figure is printed with the line that the guide gives it; the exit code is 1 if one is not reached. A
 * server, a worker and a producer (some 200 events a second) run as processes of their own on this machine, which
 * should do nothing else. Small numbers show that it runs: `--jobs 20000 --minutes 1`.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { figureWords } from "../server-load/figure.ts";
import { machineFacts, warnings } from "../machine.ts";
import { measureAll } from "./measure-all.ts";
import { openPlace } from "./place.ts";
import { beProcess } from "./processes.ts";

/** Filling, looking at every page, and a slow machine. */
const BESIDE_MINUTES = 45;

if (!(await beProcess(process.argv.slice(2)))) process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      store: { type: "string", default: "sqlite" },
      url: { type: "string" },
      jobs: { type: "string", default: "1000000" },
      minutes: { type: "string", default: "10" },
      folder: { type: "string", default: tmpdir() },
    },
  });
  const [jobs, minutes] = [Number(values.jobs), Number(values.minutes)];
  if (!Number.isInteger(jobs) || jobs < 1_000 || !(minutes > 0 && minutes <= 120)) {
    console.error("--jobs takes a whole number from 1000 on, --minutes one up to 120");
    return 2;
  }
  const { folder } = values;
  const machine = machineFacts(folder);
  const place = await openPlace({ ...values, folder });
  const stopped = new AbortController();
  const stop = (why: string) => () => stopped.abort(new Error(why));
  const late = setTimeout(stop("it took too long"), (minutes + BESIDE_MINUTES) * 60_000);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop(signal));
  try {
    console.log(
      `${place.facts}; ${machine.cores} cores, ${machine.cpu}, Node ${machine.node}, ${machine.fileSystem}`,
    );
    for (const warning of warnings(machine)) console.log(warning);
    const figures = await measureAll(place, { jobs, minutes, signal: stopped.signal });
    for (const figure of figures) console.log(figureWords(figure));
    return figures.some(({ isReached }) => isReached === false) ? 1 : 0;
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    console.error(`stopped: ${(error as Error).message}`);
    return 2;
  } finally {
    clearTimeout(late);
    await place.close();
  }
}
