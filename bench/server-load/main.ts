/**
 * The HTTP API under load, from another process: `npm run bench:server -- [rates] [kill] [listeners] [--small]`.
 *
 *   rates      enqueues over HTTP, single and in batches, beside the library's own and a bare route's
 *   kill       20,000 enqueues over 64 connections while a worker process is killed: each ends exactly once
 *   listeners  500 event streams, 50 of which stop reading: memory and delay of the event loop, over 5 minutes
 *
 * Each figure is printed with the line that it has to reach. The exit code is 1 if one does not. `--small` shows
 * within a minute that it runs; its figures say little.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Figure } from "./figure.ts";
import { figureWords } from "./figure.ts";
import { measureKill } from "./kill.ts";
import { measureListeners } from "./listeners.ts";
import { beProcess } from "./processes.ts";
import { measureRates } from "./rates.ts";

const PARTS = { rates: measureRates, kill: measureKill, listeners: measureListeners };
type Part = keyof typeof PARTS;

if (!(await beProcess(process.argv.slice(2)))) process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { small: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const names = positionals.length === 0 ? Object.keys(PARTS) : positionals;
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) {
    console.error(`there is no part ${unknown}: name some of ${Object.keys(PARTS).join(", ")}`);
    return 2;
  }
  let isShort = false;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-load-"));
  try {
    for (const name of names as Part[]) {
      const figures: readonly Figure[] = await PARTS[name](folder, { isSmall: values.small });
      for (const figure of figures) console.log(figureWords(figure));
      isShort ||= figures.some(({ isReached }) => isReached === false);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return isShort && !values.small ? 1 : 0;
}
