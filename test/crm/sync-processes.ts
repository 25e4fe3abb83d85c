/** The worker processes of a scenario: started, killed and, whatever happens, ended. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SyncWorkerOptions } from "./sync-worker.ts";

const PROGRAM = fileURLToPath(new URL("sync-worker.ts", import.meta.url));

export class SyncProcesses {
  readonly #children = new Set<ChildProcess>();

  async start(options: SyncWorkerOptions): Promise<ChildProcess> {
    const args = ["--conditions", "@holdfast/source", PROGRAM, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    const up = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    if (String(up[0]) !== "up\n") throw new Error(`a worker ended early: ${String(up[0])}`);
    return child;
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
