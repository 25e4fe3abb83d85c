/** The command line of Holdfast. `holdfast` runs it; programs may, too. */
export { run } from "./run.ts";
export { ExitCode } from "./exit-code.ts";
export type { Io, Output } from "./io.ts";
export type { Config } from "./settings/config-file.ts";
