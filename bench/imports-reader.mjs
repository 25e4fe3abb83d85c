/**
 * Reads one file with one reader, and prints what that took. Plain JavaScript: what takes types away would be in every
 * figure.
 */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Each loads its reader, and answers with what reads a file and counts its rows without the header. */
const READERS = {
  holdfast: ours,
  "holdfast-csv": ours,
  async hucre() {
    const { streamXlsxRows } = await import("hucre");
    return async (file) => {
      let rows = -1;
      for await (const _ of streamXlsxRows(await readFile(file))) rows += 1;
      return rows;
    };
  },
  async "hucre-whole"() {
    const { readXlsx } = await import("hucre");
    return async (file) => (await readXlsx(await readFile(file))).sheets[0].rows.length - 1;
  },
  async "read-excel-file"() {
    const { readSheet } = await import("read-excel-file/node");
    return async (file) => (await readSheet(file)).length - 1;
  },
  async "csv-parse"() {
    const { parse } = await import("csv-parse");
    return async (file) => {
      let rows = 0;
      for await (const _ of createReadStream(file).pipe(parse({ columns: true }))) rows += 1;
      return rows;
    };
  },
};

async function ours() {
  const { openSheet } = await import("../packages/imports/dist/index.js");
  return async (file) => {
    const sheet = await openSheet(file);
    let rows = 0;
    for await (const _ of sheet.rows()) rows += 1;
    return rows;
  };
}

const [name, file] = process.argv.slice(2);
const read = await READERS[name]();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedAt = performance.now();
const cpu = process.cpuUsage();
const rows = await read(file);
const { user, system } = process.cpuUsage(cpu);
// A turn of the loop, so that a block that goes on to the end is seen.
await new Promise((resolve) => setTimeout(resolve, 5));
const reading = {
  ...{ rows, cpuMs: (user + system) / 1_000, wallMs: performance.now() - startedAt },
  residentMb: process.resourceUsage().maxRSS / 1_024,
  blockMs: delay.max / 1e6,
};
console.log(JSON.stringify(reading));
process.exit(0);
