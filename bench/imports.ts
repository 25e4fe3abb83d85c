/**
 * What reading a spreadsheet costs: `npm run bench:imports -- [--rows n] [--rounds n] [--quick]`. Each reader has a process
 * of its own for each round; all read the same file of eight columns (texts, numbers, truth values, dates). The lines it
 * is held to: under 110 MB resident, at most 0.6 of the CPU time of the fastest package, the loop never blocked for 20 ms.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeXlsx, type CellValue } from "hucre";
import { machineFacts, warnings } from "./machine.ts";
import { spreadOf } from "./statistics.ts";

/** What `imports-reader.mjs` prints. */
interface Reading {
  readonly rows: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly residentMb: number;
  /** The longest time for which its loop did not turn. */
  readonly blockMs: number;
}

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "50000" },
    rounds: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
  },
});
const ROWS = values.quick ? 500 : Number(values.rows);
const ROUNDS = values.quick ? 1 : Number(values.rounds);
const PACKAGES = ["hucre", "hucre-whole", "read-excel-file"];
const LINES = { residentMb: 110, cpuShare: 0.6, blockMs: 20 };

const HEADER = ["id", "email", "name", "city", "amount", "is active", "since", "note"];
const CITIES = ["Oslo", "東京", "São Paulo", "Zürich", "London", "New York"];

function rowOf(at: number): CellValue[] {
  return [
    ...[at + 1, `customer${at}@example.com`, `Customer Näme ${at}`, CITIES[at % CITIES.length]!],
    ...[((at * 37) % 100_000) / 100, at % 3 === 0, new Date(Date.UTC(2020, 0, 1 + (at % 2_000)))],
    `note ${at % 1_000}`,
  ];
}

function read(reader: string, file: string): Reading {
  const program = fileURLToPath(new URL("imports-reader.mjs", import.meta.url));
  // As users have it: what is built, and nothing that takes types away.
  const options = (process.env["NODE_OPTIONS"] ?? "").replace(/--conditions=\S+/g, "").trim();
  const { stdout, status, stderr } = spawnSync(process.execPath, [program, reader, file], {
    ...{ encoding: "utf8", env: { ...process.env, NODE_OPTIONS: options } },
  });
  if (status !== 0) throw new Error(`${reader} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Reading;
}

const folder = await mkdtemp(join(tmpdir(), "holdfast-imports-"));
try {
  for (const warning of warnings(machineFacts(folder))) console.log(warning);
  const xlsx = join(folder, "customers.xlsx");
  const rows = Array.from({ length: ROWS }, (_, at) => rowOf(at));
  await writeFile(
    xlsx,
    await writeXlsx({ sheets: [{ name: "Customers", rows: [HEADER, ...rows] }] }),
  );
  const csv = join(folder, "customers.csv");
  const lines = [HEADER, ...rows].map((cells) =>
    cells.map((cell) => (cell instanceof Date ? cell.toISOString() : String(cell))).join(","),
  );
  await writeFile(csv, lines.join("\n"));
  const { size } = await stat(xlsx);
  console.log(
    `${ROWS} rows of ${HEADER.length}, ${(size / 1e6).toFixed(2)} MB as a workbook; median of ${ROUNDS} (least - most)`,
  );

  const readings = new Map<string, Reading[]>();
  const contenders = [
    ["holdfast", xlsx],
    ...PACKAGES.map((name) => [name, xlsx]),
    ["holdfast-csv", csv],
    ["csv-parse", csv],
  ] as const;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, file] of contenders) {
      const reading = read(name, file!);
      if (reading.rows !== ROWS)
        throw new Error(`${name} has read ${reading.rows} of ${ROWS} rows`);
      readings.set(name!, [...(readings.get(name!) ?? []), reading]);
    }
  }
  const median = (name: string, what: keyof Reading) =>
    spreadOf(readings.get(name)!.map((reading) => reading[what]));
  for (const [name] of contenders) {
    const figures = (["cpuMs", "wallMs", "residentMb", "blockMs"] as const).map((what) => {
      const { median: middle, min, max } = median(name!, what);
      return `${what} ${middle.toFixed(0)} (${min.toFixed(0)} - ${max.toFixed(0)})`;
    });
    console.log(`  ${name!.padEnd(16)} ${figures.join(" · ")}`);
  }
  const fastest = Math.min(...PACKAGES.map((name) => median(name, "cpuMs").median));
  const share = median("holdfast", "cpuMs").median / fastest;
  const { median: residentMb } = median("holdfast", "residentMb");
  const { median: blockMs } = median("holdfast", "blockMs");
  const verdict = (isKept: boolean) => (isKept ? "kept" : "MISSED");
  console.log(
    `resident ${residentMb.toFixed(0)} MB, under ${LINES.residentMb}: ${verdict(residentMb < LINES.residentMb)}`,
  );
  console.log(
    `CPU ${share.toFixed(2)} of the fastest package, at most ${LINES.cpuShare}: ${verdict(share <= LINES.cpuShare)}`,
  );
  console.log(
    `longest block ${blockMs.toFixed(1)} ms, under ${LINES.blockMs}: ${verdict(blockMs < LINES.blockMs)}`,
  );
  console.log(
    `CSV: CPU ${(median("holdfast-csv", "cpuMs").median / median("csv-parse", "cpuMs").median).toFixed(2)} of csv-parse`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
