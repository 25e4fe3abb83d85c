/**
 * The module of `work --jobs`. It exports a function that defines jobs on the Holdfast it is given (`jobs`,
 * `register`, or by default), or a Holdfast of its own making (`hf`, `holdfast`, or by default).
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Holdfast } from "holdfast";
import { CliError, ExitCode } from "../exit-code.ts";
import { importModule } from "./import-module.ts";

export type JobsModule =
  { readonly define: (hf: Holdfast) => void | Promise<void> } | { readonly hf: Holdfast };

const FUNCTIONS = ["jobs", "register", "default"];
const INSTANCES = ["hf", "holdfast", "default"];

export async function readJobsModule(cwd: string, file: string): Promise<JobsModule> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) {
    throw new CliError(
      ExitCode.usage,
      `there is no file ${file}: --jobs takes the module that defines the jobs; holdfast init makes one`,
    );
  }
  const module = await importModule(path, file);
  const instance = INSTANCES.map((name) => module[name]).find(isHoldfast);
  if (instance !== undefined) return { hf: instance };
  const define = FUNCTIONS.map((name) => module[name]).find((one) => typeof one === "function");
  if (define !== undefined) return { define: define as (hf: Holdfast) => void };
  throw new CliError(
    ExitCode.usage,
    `${file} exports neither a function jobs(hf) nor a Holdfast hf: export function jobs(hf) { hf.define({ … }) }`,
  );
}

function isHoldfast(value: unknown): value is Holdfast {
  const { work, define, enqueue } = Object(value) as Partial<Record<string, unknown>>;
  return [work, define, enqueue].every((one) => typeof one === "function");
}
