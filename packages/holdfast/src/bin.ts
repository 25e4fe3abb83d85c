#!/usr/bin/env node
/**
 * The command `holdfast`. It runs the command line where that is installed, beside this package or in the
 * project one stands in, and says how to get it where not: the library has no dependencies.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

interface CommandLine {
  run(argv: readonly string[]): Promise<number>;
}

const NAME = "@holdfast/cli";

async function commandLine(): Promise<CommandLine | null> {
  const fromProject = createRequire(join(process.cwd(), "package.json"));
  const ways = [() => pathToFileURL(fromProject.resolve(NAME)).href, () => NAME];
  for (const way of ways) {
    try {
      return (await import(way())) as CommandLine;
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message?: string };
      const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
      if (!isMissing || message?.includes(NAME) !== true) throw error;
    }
  }
  return null;
}

commandLine().then(
  async (cli) => {
    if (cli !== null) {
      process.exitCode = await cli.run(process.argv.slice(2));
      return;
    }
    console.error(`The command line is a package of its own. Install it beside holdfast:\n
  npm install ${NAME}\n\nThen npx holdfast --help shows what it can do.`);
    process.exitCode = 1;
  },
  (error: unknown) => {
    console.error(`holdfast: the command line could not be loaded: ${String(error)}`);
    process.exitCode = 1;
  },
);
