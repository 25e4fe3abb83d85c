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
  --newer <n>        pages: behind so many newer jobs, 200000 by default
  --idle-seconds <n> idle: watched for so long, 60 by default
  --quick            small numbers and two rounds: proves that it runs, measures nothing
  --json <file>      where the figures go, bench/results/<store>-<time>.json by default
  --folder <path>    on which file system, the system's temporary folder by default
  --appendfsync <w>  redis: everysec (default) or always`;

export interface Options {
  readonly store: StoreName;
  readonly rounds: number;
  readonly newerJobs: number;
  readonly idleSeconds: number;
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
      newer: { type: "string", default: "200000" },
      "idle-seconds": { type: "string", default: "60" },
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
  const rounds = whole("rounds", values.rounds ?? (quick ? "2" : "7"));
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
    newerJobs: whole("newer", values.newer),
    idleSeconds: whole("idle-seconds", values["idle-seconds"]),
    only,
    contenders: values.contenders === undefined ? null : new Set(values.contenders.split(",")),
    quick,
    json: json === undefined ? null : resolve(BASE, json),
    folder: resolve(BASE, folder),
    appendfsync,
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number`);
  return value;
}

function scenarioNames(store: StoreName): string[] {
  return scenariosOf(store).map(({ name }) => name);
}
