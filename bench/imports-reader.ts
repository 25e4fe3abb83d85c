/** Reads one file with one reader, and prints what that took. */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Reading {
  readonly rows: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly residentMb: number;
  /** The longest time for which this thread's loop did not turn. */
  readonly blockMs: number;
}

/** Each answers how many rows it has read, without the header. */
const READERS: Readonly<Record<string, (file: string) => Promise<number>>> = {
  holdfast: ours,
  "holdfast-csv": ours,
  async hucre(file) {
    const { streamXlsxRows } = await import("hucre");
    let rows = -1;
    for await (const _ of streamXlsxRows(await readFile(file))) rows += 1;
    return rows;
  },
  async "hucre-whole"(file) {
    const { readXlsx } = await import("hucre");
    const { sheets } = await readXlsx(await readFile(file));
    return sheets[0]!.rows.length - 1;
  },
  async "read-excel-file"(file) {
    const { readSheet } = (await import("read-excel-file/node" as string)) as {
      readSheet(path: string): Promise<unknown[]>;
    };
    return (await readSheet(file)).length - 1;
  },
  async "csv-parse"(file) {
    const { parse } = await import("csv-parse");
    let rows = 0;
    for await (const _ of createReadStream(file).pipe(parse({ columns: true }))) rows += 1;
    return rows;
  },
};

async function ours(file: string): Promise<number> {
  const { openSheet } = (await import(
    "../packages/imports/dist/index.js" as string
  )) as typeof import("../packages/imports/src/index.ts");
  const sheet = await openSheet(file);
  let rows = 0;
  for await (const _ of sheet.rows()) rows += 1;
  return rows;
}

const [name = "", file = ""] = process.argv.slice(2);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedAt = performance.now();
const cpu = process.cpuUsage();
const rows = await READERS[name]!(file);
const { user, system } = process.cpuUsage(cpu);
// A turn of the loop, so that a block that goes on to the end is seen.
await new Promise((resolve) => setTimeout(resolve, 5));
const reading: Reading = {
  ...{ rows, cpuMs: (user + system) / 1_000, wallMs: performance.now() - startedAt },
  residentMb: process.resourceUsage().maxRSS / 1_024,
  blockMs: delay.max / 1e6,
};
console.log(JSON.stringify(reading));
process.exit(0);
