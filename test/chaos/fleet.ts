/**
 * The child processes: started, struck, replaced and, whatever happens, ended. Everything done to a
 * process is written down by the harness's own witness.
 *
 *     began ──"up" on stdout──▶ running ──stop──▶ stopped ──continue──▶ running
 *                                  │ terminate            │ kill
 *                                  ▼                      ▼
 *                               leaving ──────────────▶ exited
 */
import { spawn, type ChildProcess } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { monotonicMs, type Witness } from "./witness.ts";

export type Role = "worker" | "producer";
type State = "beginning" | "running" | "stopped" | "leaving" | "exited";

export interface Member {
  readonly name: string;
  readonly role: Role;
  /** Of its witness; a producer's successor writes on in it. */
  readonly file: string;
  readonly state: State;
  /** Since it came up, was continued, or could reach the store again. */
  readonly healthySince: number;
  /** Its way to the store is disturbed. */
  readonly isCutOff: boolean;
  readonly exited: Promise<{ readonly code: number | null; readonly wasKilled: boolean }>;
}

interface Entry extends Member {
  state: State;
  healthySince: number;
  isCutOff: boolean;
  wasKilled: boolean;
  readonly process: ChildProcess;
}

const PROGRAMS: Readonly<Record<Role, string>> = {
  worker: fileURLToPath(new URL("worker.ts", import.meta.url)),
  producer: fileURLToPath(new URL("producer.ts", import.meta.url)),
};

export class Fleet {
  readonly #folder: string;
  readonly #witness: Witness;
  readonly #entries = new Map<string, Entry>();
  readonly #numbers: Record<Role, number> = { worker: 0, producer: 0 };
  readonly #endAll = () => this.endAll();

  constructor(folder: string, witness: Witness) {
    this.#folder = folder;
    this.#witness = witness;
    // The last resort: also when the harness dies of an error, nothing stays behind.
    process.on("exit", this.#endAll);
  }

  /** Resolves once it is up, or has exited before it was. */
  async begin(
    role: Role,
    optionsFor: (name: string) => Promise<{ readonly file: string }>,
  ): Promise<Member> {
    const name = `${role}-${(this.#numbers[role] += 1)}`;
    const errors = openSync(join(this.#folder, `${name}.stderr`), "a");
    const options = await optionsFor(name);
    const child = spawn(process.execPath, [PROGRAMS[role], JSON.stringify(options)], {
      // A child whose stdin ends knows that the harness is gone.
      stdio: ["pipe", "pipe", errors],
    });
    // Told something in its last moment.
    child.stdin!.on("error", () => {});
    this.#witness.saw({ what: "began", to: name, role });
    const exited = new Promise<{ code: number | null; wasKilled: boolean }>((resolve) => {
      child.once("exit", (code, signal) => {
        entry.state = "exited";
        this.#witness.saw({ what: "exited", to: name, code, signal });
        resolve({ code, wasKilled: entry.wasKilled });
      });
    });
    const entry: Entry = {
      ...{ name, role, file: options.file, process: child, exited },
      ...{ state: "beginning", healthySince: Infinity, isCutOff: false, wasKilled: false },
    };
    this.#entries.set(name, entry);
    const isUp = new Promise<void>((resolve) => child.stdout!.once("data", () => resolve()));
    await Promise.race([isUp, exited]);
    if (entry.state === "beginning") {
      entry.state = "running";
      entry.healthySince = monotonicMs();
    }
    return entry;
  }

  /** Those that can be struck. */
  running(role: Role): Member[] {
    return [...this.#entries.values()].filter(
      (entry) => entry.role === role && entry.state === "running",
    );
  }

  alive(role: Role): Member[] {
    return [...this.#entries.values()].filter(
      (entry) => entry.role === role && entry.state !== "exited",
    );
  }

  tell(name: string, line: string): void {
    this.#entries.get(name)!.process.stdin!.write(`${line}\n`);
  }

  kill(name: string): void {
    const entry = this.#entries.get(name)!;
    entry.wasKilled = true;
    entry.state = "leaving";
    // Written first: whatever it still writes after this moment was written by a killed process.
    this.#witness.saw({ what: "kill", to: name });
    entry.process.kill("SIGKILL");
  }

  terminate(name: string): void {
    const entry = this.#entries.get(name)!;
    entry.state = "leaving";
    this.#witness.saw({ what: "terminate", to: name });
    entry.process.kill("SIGTERM");
  }

  stop(name: string): void {
    const entry = this.#entries.get(name)!;
    entry.state = "stopped";
    this.#witness.saw({ what: "stop", to: name });
    entry.process.kill("SIGSTOP");
  }

  continue(name: string): void {
    const entry = this.#entries.get(name)!;
    if (entry.state !== "stopped") return;
    entry.process.kill("SIGCONT");
    this.#witness.saw({ what: "continue", to: name });
    entry.state = "running";
    entry.healthySince = monotonicMs();
  }

  /** Until its way to the store is whole again, nobody counts on it. */
  cutOff(name: string): void {
    this.#entries.get(name)!.isCutOff = true;
  }

  healed(name: string): void {
    const entry = this.#entries.get(name)!;
    entry.isCutOff = false;
    entry.healthySince = monotonicMs();
  }

  /** Stopped processes too: SIGKILL waits for nobody. */
  endAll(): void {
    for (const entry of this.#entries.values()) {
      if (entry.state !== "exited") entry.process.kill("SIGKILL");
    }
  }

  async close(): Promise<void> {
    this.endAll();
    await Promise.all([...this.#entries.values()].map(({ exited }) => exited));
    process.off("exit", this.#endAll);
  }
}
