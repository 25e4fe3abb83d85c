/** A package beside the command line, which may not be installed. */
import { CliError, ExitCode } from "../exit-code.ts";

/** Described by its shape where it is used. `entry` is its name, or a path in it. */
export async function loadPart<Module>(entry: string): Promise<Module> {
  try {
    return (await import(entry)) as Module;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    const name = entry.split("/").slice(0, 2).join("/");
    throw new CliError(ExitCode.failed, `this needs the package ${name}: npm install ${name}`);
  }
}
