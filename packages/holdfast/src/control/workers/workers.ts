/** The fleet, for people: which processes work on this store, and a way to quiet one of their workers. */
import { InvalidOptionError, WorkerNotFoundError } from "../../core/errors.ts";
import { cleanText } from "../../core/text.ts";
import { checkWhy } from "../../core/why-options.ts";
import type { ExtensionHost } from "../../engine/extension.ts";

export interface FleetWorker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The `appVersion` its Holdfast was made with. */
  readonly version: string | null;
  readonly queues: readonly string[];
  /** What it has handlers for. */
  readonly types: readonly string[];
  /** How many jobs it runs at once. */
  readonly slots: number;
  readonly active: number;
  /** Some of the jobs that run: twenty at most. */
  readonly running: readonly { readonly id: string; readonly type: string }[];
  readonly leaseMs: number;
  /** It leases nothing until it is resumed. */
  readonly isQuiet: boolean;
  readonly startedAt: Date;
  /** By how much the event loop of its process was late at most in the last five seconds; null: not known. */
  readonly loopDelayMs: number | null;
  /** What its process has in memory. */
  readonly memoryBytes: number | null;
  /** By its own host's clock: at most about five seconds ago. */
  readonly seenAt: Date;
}

export interface CommandOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export class Workers {
  readonly #host: () => Promise<ExtensionHost>;

  /** `host` resolves once the store is open. */
  constructor(host: () => Promise<ExtensionHost>) {
    this.#host = host;
  }

  /** Every worker of every process that has been seen in the last twenty seconds. */
  async list(): Promise<readonly FleetWorker[]> {
    const { workers } = await this.#host();
    return (await workers.list()).flatMap((process) =>
      process.workers.map(({ concurrency, ...worker }) => ({
        ...worker,
        slots: concurrency,
        ...{ host: process.host, pid: process.pid, version: process.version },
        loopDelayMs: process.loopDelayMs ?? null,
        memoryBytes: process.memoryBytes ?? null,
        startedAt: new Date(process.startedAt),
        seenAt: new Date(process.seenAt),
      })),
    );
  }

  /** It stops leasing, within a second while it is busy, five while it is idle. What runs goes on. */
  quiet(worker: string, options: CommandOptions = {}): Promise<void> {
    return this.#command(worker, true, options);
  }

  resume(worker: string, options: CommandOptions = {}): Promise<void> {
    return this.#command(worker, false, options);
  }

  async #command(worker: string, isQuiet: boolean, options: CommandOptions): Promise<void> {
    const what = isQuiet ? "workers.quiet" : "workers.resume";
    if (typeof worker !== "string" || worker === "") {
      throw new InvalidOptionError(`${what} takes the id of a worker, as workers.list() has it`);
    }
    const why = checkWhy(what, options);
    const host = await this.#host();
    if (!(await host.workers.command(worker, isQuiet))) {
      throw new WorkerNotFoundError(
        `no live worker is called ${cleanText(worker, 200)}: workers.list() has those that are`,
      );
    }
    await host.audit({ action: isQuiet ? "quiet" : "resume", ...why }, { state: "asked" });
  }
}
