/** The worker processes of a scenario: started, killed and, whatever happens, ended. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SyncWorkerOptions } from "./sync-worker.ts";

export class SyncProcesses<Options = SyncWorkerOptions> {
  readonly #program: string;
  readonly #children = new Set<ChildProcess>();

  constructor(program = "sync-worker.ts") {
    this.#program = fileURLToPath(new URL(program, import.meta.url));
  }

  async start(options: Options): Promise<ChildProcess> {
    const args = ["--conditions", "@holdfast/source", this.#program, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    const up = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    if (String(up[0]) !== "up\n") throw new Error(`a worker ended early: ${String(up[0])}`);
    return child;
  }

  /** All at the same moment; resolves once each has said that it is done. */
  async tellAll(word: string): Promise<void> {
    const children = [...this.#children];
    const answers = children.map((child) => once(child.stdout!, "data"));
    for (const child of children) child.stdin!.write(`${word}\n`);
    await Promise.all(answers);
  }

  /** As the machine would: nothing is said or done after it. */
  async kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.kill(child)));
  }
}
