/** The command line as a process of its own, from the sources. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Ran } from "./terminal.ts";

const BIN = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url));

export interface RealProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves once it has written this. */
  wrote(words: string): Promise<void>;
}

export function startCli(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): RealProcess {
  const child = spawn(process.execPath, ["--conditions=@holdfast/source", BIN, ...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const hear = (name: "out" | "err") => (chunk: Buffer) => {
    written[name] += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout.on("data", hear("out"));
  child.stderr.on("data", hear("err"));
  const ended = once(child, "close").then(([code]) => ({ code: code as number, ...written }));
  const wrote = (words: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!(written.out + written.err).includes(words)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void ended.then(({ err }) => reject(new Error(`it ended without "${words}": ${err}`)));
    });
  return { child, ended, wrote };
}
