/** A program that goes on until it is stopped, as a user starts it: `node web.ts`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface StartedProgram {
  /** What it has printed so far. */
  printed(): string;
  /** SIGTERM, and what came of it. */
  stop(): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Resolves once it has printed its first line. */
export async function startProgram(
  file: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<StartedProgram> {
  const env = { ...process.env, NODE_OPTIONS: "", ...options.env };
  const child = spawn(process.execPath, [file], { ...options, env });
  const ended = once(child, "close");
  const all = Promise.all([text(child.stdout), text(child.stderr)]);
  const started = once(child.stdout, "data").then(() => true);
  let printed = "";
  child.stdout.on("data", (part: Buffer) => (printed += part.toString()));
  const isUp = await Promise.race([started, ended.then(() => false)]);
  if (!isUp) throw new Error((await all).join("\n"));
  return {
    printed: () => printed,
    async stop() {
      child.kill("SIGTERM");
      const [[code], [stdout, stderr]] = await Promise.all([ended, all]);
      return { code: code as number | null, stdout, stderr };
    },
  };
}
