/** Processes of one back office: they come, stand still, are killed, and leave in peace. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Command, OfficeProcessOptions, Point, Stand } from "./office-process.ts";

const PROGRAM = fileURLToPath(new URL("office-process.ts", import.meta.url));

export class OfficeProcess {
  readonly #child: ChildProcess;
  readonly #words = new Map<string, string>();
  readonly #waiting = new Map<string, (rest: string) => void>();
  #url = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const [word = "", ...rest] = line.split(" ");
      this.#words.set(word, rest.join(" "));
      this.#waiting.get(word)?.(rest.join(" "));
    });
  }

  static async start(options: OfficeProcessOptions): Promise<OfficeProcess> {
    const words = ["--conditions=@holdfast/source", PROGRAM, JSON.stringify(options)];
    const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
    const one = new OfficeProcess(child);
    one.#url = await one.#heard("up");
    return one;
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** It has come to the point where it stands still. */
  async stands(point: Point): Promise<void> {
    const at = await this.#heard("stands");
    if (at !== point) throw new Error(`it stands at ${at}, not at ${point}`);
  }

  /** From now on, and no more where it was told to before. */
  standAt(stand: Stand): void {
    this.#words.delete("stands");
    this.#tell({ stand });
  }

  /** Wherever it stands, or was to stand. */
  goOn(): void {
    this.#tell("go on");
  }

  /** No handler, no hook, no last word. */
  async kill(): Promise<void> {
    if (this.#isGone) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  /** As a deploy does. Answers the exit code. */
  async leave(): Promise<number | null> {
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    return (await gone)[0] as number | null;
  }

  get #isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #tell(command: Command): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  async #heard(word: string): Promise<string> {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.set(word, resolve);
    this.#child.once("exit", () => reject(new Error(`the process ended before it said "${word}"`)));
    return promise;
  }
}

/**
 * Kills whichever of two comes to this point first, and lets the other one go on: who leases a job is nobody's choice.
 * Answers the other one.
 */
export async function killTheFirst(
  two: readonly [OfficeProcess, OfficeProcess],
  { stand, begin }: { readonly stand: Stand; readonly begin: () => Promise<void> },
): Promise<OfficeProcess> {
  for (const one of two) one.standAt(stand);
  await begin();
  const [left, right] = two;
  const first = await Promise.race(
    two.map(async (one) => {
      await one.stands(stand.point);
      return one;
    }),
  );
  await first.kill();
  const other = first === left ? right : left;
  other.goOn();
  return other;
}
