/** Loads a module of the user's, TypeScript as it is: Node takes the types out. */
import { pathToFileURL } from "node:url";
import { CliError, ExitCode } from "../exit-code.ts";

export async function importModule(
  path: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const { code, message, stack } = error as NodeJS.ErrnoException;
    if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
      throw new CliError(
        ExitCode.usage,
        `Node ${process.versions.node} cannot load ${name} as it is: use Node 22.18 or newer, or set NODE_OPTIONS=--experimental-strip-types`,
      );
    }
    if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
      throw new CliError(
        ExitCode.usage,
        `${name} uses TypeScript that is more than types (enums, namespaces, parameter properties), which Node does not take out: ${message}`,
      );
    }
    if (code === "ERR_MODULE_NOT_FOUND") {
      throw new CliError(ExitCode.usage, `${name} could not be loaded: ${message}`);
    }
    // A program's own mistake: its stack says where.
    throw new CliError(ExitCode.failed, `${name} threw while it was loaded: ${stack ?? message}`);
  }
}
