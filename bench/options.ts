/** The command line. */
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isStoreName, STORES, type StoreName } from "./contenders/index.ts";
import { SCENARIOS } from "./scenarios/index.ts";

/**
 * What relative paths are relative to: the project's root under npm, which runs its scripts in folders
 * nobody was in, else the working directory.
 */
export const BASE =
  process.env["npm_command"] === undefined
    ? process.cwd()
    : fileURLToPath(new URL("..", import.meta.url));

export const USAGE = `npm run bench -- --store sqlite [options]

  --store <name>     ${Object.keys(STORES).join(", ")}
  --rounds <n>       paired rounds of every scenario, 7 by default
  --only <a,b>       ${SCENARIOS.map(({ name }) => name).join(", ")}
  --quick            small numbers and two rounds: proves that it runs, measures nothing
  --json <file>      where the figures go, bench/results/<store>-<time>.json by default
  --folder <path>    on which file system, the system's temporary folder by default`;

export interface Options {
  readonly store: StoreName;
  readonly rounds: number;
  readonly only: ReadonlySet<string>;
  readonly quick: boolean;
  readonly json: string | null;
  readonly folder: string;
}

/** Throws an error whose message says what to type. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string" },
      rounds: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      folder: { type: "string", default: tmpdir() },
    },
  });
  const { store, quick, json, folder } = values;
  if (store === undefined || !isStoreName(store)) {
    throw new Error(`--store must be one of ${Object.keys(STORES).join(", ")}`);
  }
  const rounds = Number(values.rounds ?? (quick ? 2 : 7));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number");
  const only = new Set(values.only?.split(",") ?? SCENARIOS.map(({ name }) => name));
  for (const name of only) {
    if (!SCENARIOS.some((scenario) => scenario.name === name)) {
      throw new Error(`--only knows no scenario "${name}"`);
    }
  }
  return {
    store,
    rounds,
    only,
    quick,
    json: json === undefined ? null : resolve(BASE, json),
    folder: resolve(BASE, folder),
  };
}
