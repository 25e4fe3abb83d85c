/** A package beside the command line, which may not be installed. */
import { CliError, ExitCode } from "../exit-code.ts";

/** Described by its shape where it is used. `entry` is its name, or a path in it. */
export async function loadPart<Module>(entry: string): Promise<Module> {
  try {
    return (await import(entry)) as Module;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const name = entry.split("/").slice(0, 2).join("/");
    // A package that is there, and lacks one of its own, is not helped by installing it.
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
    throw new CliError(ExitCode.failed, `this needs the package ${name}: npm install ${name}`);
  }
}
