/**
 * Measures Holdfast against a raw loop of the same durable work and against its peers, in one run, on one
 * file system or server, with the same durability. docs/performance.md says how to read what it prints.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { contendersOf } from "./contenders/index.ts";
import { machineFacts, warnings } from "./machine.ts";
import { BASE, parseOptions, USAGE, type Options } from "./options.ts";
import { Places } from "./places.ts";
import { type ReportLine, reportLines, table } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { scenariosOf } from "./scenarios/index.ts";

/** Of the longest name. */
const NAME_WIDTH = 21;

async function main(options: Options): Promise<void> {
  const { store, rounds, only, quick, json, folder, newerJobs, idleSeconds } = options;
  const startedAt = new Date();
  const machine = machineFacts(folder);
  console.log(`Holdfast benchmark, store ${store}, ${rounds} paired and interleaved rounds`);
  if (quick)
    console.log("QUICK: small numbers, for seeing that it runs. The figures mean nothing.");
  console.log(`
  machine     ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${machine.system}
  node        ${machine.node}
  files on    ${machine.fileSystem}, under ${folder}
  load        ${machine.load.toFixed(2)} at the start`);
  for (const warning of warnings(machine)) console.log(`  note        ${warning}`);

  const places = await Places.open(store, options);
  console.log(`  store       ${places.facts}`);
  // A server must not outlive the run that started it.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void places.close().finally(() => process.exit(1)));
  }
  const samples: object[] = [];
  const lines: ReportLine[] = [];
  const contenders: object[] = [];
  const present = new Set<string>();
  try {
    console.log("\nContenders, and what each says of itself once it is open:");
    for (const contender of await contendersOf(store)) {
      const { name, setup } = contender;
      if (options.contenders?.has(name) === false) continue;
      const missing = contender.missing();
      const described = missing === null ? await places.describe(contender) : null;
      if (missing === null) present.add(name);
      contenders.push({ name, setup, described, missing });
      console.log(
        `  ${name.padEnd(NAME_WIDTH)}  ${missing === null ? setup : `left out: ${missing}`}`,
      );
      if (described !== null) console.log(`  ${"".padEnd(NAME_WIDTH)}  ${described}`);
    }
    for (const scenario of scenariosOf(store).filter(({ name }) => only.has(name))) {
      const size = { quick, rounds, newerJobs, idleSeconds };
      const done = await runRounds(scenario, { store, size, places, present, onProgress });
      onProgress("");
      const reported = reportLines(done);
      lines.push(...reported);
      samples.push({ scenario: scenario.name, samples: Object.fromEntries(done.samples) });
      console.log(`\n${table(done, reported)}`);
    }
  } finally {
    await places.close();
  }

  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1_000);
  const missed = lines.filter(({ met }) => met === false);
  const judged = lines.filter(({ met }) => met !== undefined);
  console.log(
    `\n${judged.length - missed.length} of ${judged.length} targets met, ${seconds} s in all.`,
  );
  const file = json ?? resultsFile(store, startedAt);
  await mkdir(dirname(file), { recursive: true });
  const result = {
    ...{ store, quick, rounds, startedAt, seconds, machine, facts: places.facts },
    ...{ contenders, lines, samples },
  };
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`Every measurement is in ${relative(BASE, file)}`);
}

function resultsFile(store: string, at: Date): string {
  const time = at.toISOString().slice(0, 19).replaceAll(":", "-");
  return fileURLToPath(new URL(`results/${store}-${time}.json`, import.meta.url));
}

/** One line that is overwritten; nothing where nobody watches. */
function onProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

let options: Options | null = null;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (options) await main(options);
