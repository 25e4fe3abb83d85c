/** The processes of a scenario: started, killed, replaced and, whatever happens, ended. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LockWorkerOptions } from "./lock-worker.ts";
import type { WorkerOptions } from "./worker.ts";

interface Programs {
  readonly "worker.ts": WorkerOptions;
  readonly "lock-worker.ts": LockWorkerOptions;
}

export class Processes<Program extends keyof Programs = "worker.ts"> {
  readonly #children = new Map<number, ChildProcess>();
  readonly #program: string;

  constructor(program: Program) {
    this.#program = fileURLToPath(new URL(program, import.meta.url));
  }

  /** Resolves to its pid once it works. */
  async start(options: Programs[Program]): Promise<number> {
    const args = ["--conditions", "@holdfast/source", this.#program, JSON.stringify(options)];
    // Without the flags of the test runner's own process.
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    const pid = child.pid!;
    this.#children.set(pid, child);
    child.once("exit", () => this.#children.delete(pid));
    const up = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    if (String(up[0]) !== "up\n")
      throw new Error(`a worker ended before it was up: ${String(up[0])}`);
    return pid;
  }

  has(pid: number): boolean {
    return this.#children.has(pid);
  }

  /** As the machine would: no timer, call or goodbye after it. */
  async kill(pid: number): Promise<void> {
    const child = this.#children.get(pid);
    if (!child) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((pid) => this.kill(pid)));
  }
}
