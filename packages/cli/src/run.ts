/** Runs the command line; answers what the shell is told. */
import { InvalidOptionError } from "holdfast";
import { CliError, ExitCode, exitCodeOf, isExpected } from "./exit-code.ts";
import { systemIo, type Io } from "./io.ts";
import { cleanLines } from "./output/clean.ts";
import { CommanderError, makeProgram, type Ran } from "./program.ts";

export async function run(argv: readonly string[], io: Io = systemIo()): Promise<number> {
  checkCall(argv, io);
  const ran: Ran = { code: ExitCode.ok };
  const program = makeProgram(io, ran);
  try {
    if (argv.length === 0) {
      program.outputHelp();
      return ExitCode.ok;
    }
    await program.parseAsync([...argv], { from: "user" });
    return ran.code;
  } catch (error) {
    // The parser has said what it is about.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ExitCode.usage;
    const isOurs = isExpected(error);
    const { message, stack } = error as Error;
    const words = isOurs ? message : (stack ?? message);
    const head =
      error instanceof CliError && error.exitCode === ExitCode.refused ? "" : "holdfast: ";
    io.stderr.write(`${head}${cleanLines(words)}\n`);
    return exitCodeOf(error);
  }
}

function checkCall(argv: unknown, io: unknown): void {
  if (!Array.isArray(argv) || !argv.every((word) => typeof word === "string")) {
    throw new InvalidOptionError('run takes the words of a command: run(["jobs", "--json"])');
  }
  const { stdout, stderr } = Object(io) as Partial<Io>;
  if (typeof stdout?.write === "function" && typeof stderr?.write === "function") return;
  throw new InvalidOptionError("io is everything through which a command touches the world: an Io");
}
