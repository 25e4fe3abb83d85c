/** The command line. */
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isStoreName, STORE_NAMES, type StoreName } from "./contenders/index.ts";
import type { Appendfsync } from "./ground.ts";
import { scenariosOf } from "./scenarios/index.ts";

/**
 * What relative paths are relative to: the project's root under npm, which runs its scripts in folders
 * nobody was in, else the working directory.
 */
export const BASE =
  process.env["npm_command"] === undefined
    ? process.cwd()
    : fileURLToPath(new URL("..", import.meta.url));

export const USAGE = `npm run bench -- --store sqlite [options]

  --store <name>     ${STORE_NAMES.join(", ")}
  --rounds <n>       paired rounds of every scenario, 7 by default
  --only <a,b>       of the store's scenarios:
${STORE_NAMES.map((store) => `                     ${store}: ${scenarioNames(store).join(", ")}`).join("\n")}
  --contenders <a,b> these only, all by default
  --quick            small numbers and two rounds: proves that it runs, measures nothing
  --json <file>      where the figures go, bench/results/<store>-<time>.json by default
  --folder <path>    on which file system, the system's temporary folder by default
  --appendfsync <w>  redis: everysec (default) or always`;

export interface Options {
  readonly store: StoreName;
  readonly rounds: number;
  readonly only: ReadonlySet<string>;
  /** Null for all. */
  readonly contenders: ReadonlySet<string> | null;
  readonly quick: boolean;
  readonly json: string | null;
  readonly folder: string;
  readonly appendfsync: Appendfsync;
}

/** Throws an error whose message says what to type. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string" },
      rounds: { type: "string" },
      only: { type: "string" },
      contenders: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      folder: { type: "string", default: tmpdir() },
      appendfsync: { type: "string", default: "everysec" },
    },
  });
  const { store, quick, json, folder, appendfsync } = values;
  if (store === undefined || !isStoreName(store)) {
    throw new Error(`--store must be one of ${STORE_NAMES.join(", ")}`);
  }
  const rounds = Number(values.rounds ?? (quick ? 2 : 7));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number");
  const only = new Set(values.only?.split(",") ?? scenarioNames(store));
  for (const name of only) {
    if (!scenarioNames(store).includes(name)) {
      throw new Error(`--only knows no scenario "${name}" on ${store}`);
    }
  }
  if (appendfsync !== "everysec" && appendfsync !== "always") {
    throw new Error("--appendfsync must be everysec or always");
  }
  return {
    store,
    rounds,
    only,
    contenders: values.contenders === undefined ? null : new Set(values.contenders.split(",")),
    quick,
    json: json === undefined ? null : resolve(BASE, json),
    folder: resolve(BASE, folder),
    appendfsync,
  };
}

function scenarioNames(store: StoreName): string[] {
  return scenariosOf(store).map(({ name }) => name);
}
