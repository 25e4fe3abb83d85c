/**
 * `holdfast.config.ts`, `.js`, `.mjs` or `.json`, in the folder one stands in or above it. It holds settings by
 * their names (`docs/reference/env.md`), exported by default or as `config`.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SettingValues } from "holdfast/env";
import { CliError, ExitCode } from "../exit-code.ts";
import { importModule } from "./import-module.ts";

/** What a configuration file may say. */
export type Config = SettingValues;

export interface ConfigFile {
  /** As people name it. */
  readonly name: string;
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

const NAMES = ["ts", "mts", "js", "mjs", "json"].map((ending) => `holdfast.config.${ending}`);

export async function readConfigFile(
  cwd: string,
  named: string | undefined,
): Promise<ConfigFile | null> {
  const path = named === undefined ? findUpwards(cwd) : resolve(cwd, named);
  if (path === null) return null;
  const name = named ?? path.slice(dirname(path).length + 1);
  if (!existsSync(path)) {
    throw new CliError(ExitCode.usage, `there is no configuration file ${name}: check --config`);
  }
  const values = path.endsWith(".json") ? readJson(path, name) : await readModule(path, name);
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new CliError(
      ExitCode.usage,
      `${name} exports no object: export default { url: "sqlite:holdfast.db" }`,
    );
  }
  return { name, path, values: values as Readonly<Record<string, unknown>> };
}

function findUpwards(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
    // A project ends where its repository does.
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return null;
  }
}

function readJson(path: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new CliError(ExitCode.usage, `${name} is not JSON: ${said}`);
  }
}

async function readModule(path: string, name: string): Promise<unknown> {
  const module = await importModule(path, name);
  return module.default ?? module.config;
}
