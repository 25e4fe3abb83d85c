/**
 * The gates that this process knows. They are read when a gate is first asked for and again when the fleet's
 * look tells of a change. A process without a worker does not look: it reads again every few seconds of use. One with
 * a worker reads again every two minutes: who changed a gate may have died before it told anybody.
 */
import type { ExtensionHost } from "../../engine/extension.ts";
import { NewestAnswer } from "../../core/newest-answer.ts";
import type { Gate, GateLine, QueueParts } from "./gate-options.ts";
import { readRules } from "./gate-records.ts";

const READ_AGAIN_MS = 5_000;
const READ_ANYWAY_MS = 120_000;

/** A gate, and how it meets a line. */
export interface Met {
  readonly gate: Gate;
  /** Its jobs are judged one by one, after the lease; else the whole queue is, before. */
  readonly byLine: boolean;
}

interface MetLine extends Met {
  readonly line: GateLine;
}

const NONE: readonly MetLine[] = [];

export class GateBook {
  readonly #host: Pick<ExtensionHost, "records" | "runtime" | "workers">;
  readonly #parts: Pick<QueueParts, "whole">;
  readonly #onChange: () => void;
  #gates: ReadonlyMap<string, Gate> = new Map();
  #byQueue: ReadonlyMap<string, readonly MetLine[]> = new Map();
  #readAt = -Infinity;
  /** What was read is not all that is known. */
  #isStale = true;
  #reading: Promise<void> | null = null;
  readonly #newest = new NewestAnswer();

  /** `onChange` is told when gates have changed, or may have. */
  constructor(
    host: Pick<ExtensionHost, "records" | "runtime" | "workers">,
    parts: Pick<QueueParts, "whole">,
    onChange: () => void,
  ) {
    this.#host = host;
    this.#parts = parts;
    this.#onChange = onChange;
    host.workers.onChange(() => {
      this.#isStale = true;
      onChange();
    });
  }

  /** Not while it is being read: a process that has just begun knows of no gate until then. */
  get isRead(): boolean {
    return !this.#isStale && this.#reading === null;
  }

  /** False: surely no job has a gate. */
  get mayConcernJobs(): boolean {
    return !this.isRead || this.#byQueue.size > 0;
  }

  /** Resolves once what is known is current. */
  async read(): Promise<void> {
    while (!this.isRead) {
      this.#reading ??= this.#read()
        .finally(() => (this.#reading = null))
        .then(() => this.#onChange());
      await this.#reading;
    }
  }

  /** For a process that may have no worker, and hears nothing. */
  async readAgain(): Promise<void> {
    if (this.#host.runtime.monotonic() - this.#readAt >= READ_AGAIN_MS) this.#isStale = true;
    await this.read();
  }

  /** For a process that hears of changes: it may have missed one, and a read may have failed. What is known counts meanwhile. */
  async readAnyway(): Promise<void> {
    if (!this.isRead) return this.read();
    if (this.#host.runtime.monotonic() - this.#readAt < READ_ANYWAY_MS) return;
    await this.#load();
    this.#onChange();
  }

  all(): Iterable<Gate> {
    return this.#gates.values();
  }

  get(name: string): Gate | null {
    return this.#gates.get(name) ?? null;
  }

  /** The gates that judge a whole queue. */
  ofQueue(queue: string): readonly Met[] {
    return this.#met(queue).filter(({ byLine }) => !byLine);
  }

  /** Are jobs of this queue judged one by one? */
  hasLines(queue: string): boolean {
    return this.#met(queue).some(({ byLine }) => byLine);
  }

  /** The gates of one line. */
  ofLine(queue: string, group: string | null): readonly Met[] {
    const met = this.#met(queue);
    return met.filter(({ line }) => line.group === null || line.group === group);
  }

  /** A part of a queue has those of the queue, too; one that names both has each line once. */
  #met(queue: string): readonly MetLine[] {
    const own = this.#byQueue.get(queue) ?? NONE;
    const whole = this.#parts.whole(queue);
    const ofWhole = whole === queue ? NONE : (this.#byQueue.get(whole) ?? NONE);
    if (own.length === 0 || ofWhole.length === 0) return own.length === 0 ? ofWhole : own;
    const isOwn = ({ gate, line }: MetLine) =>
      own.some((other) => other.gate === gate && other.line.group === line.group);
    return [...own, ...ofWhole.filter((met) => !isOwn(met))];
  }

  async #read(): Promise<void> {
    this.#isStale = false;
    try {
      await this.#load();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  async #load(): Promise<void> {
    const isNews = this.#newest.ask();
    const gates = await readRules(this.#host.records);
    if (!isNews()) return;
    const byQueue = new Map<string, MetLine[]>();
    for (const gate of gates.values()) {
      for (const line of gate.targets) {
        const byLine = gate.isPerGroup || line.group !== null;
        const met = byQueue.get(line.queue) ?? [];
        byQueue.set(line.queue, [...met, { gate, byLine, line }]);
      }
    }
    this.#gates = gates;
    this.#byQueue = byQueue;
    this.#readAt = this.#host.runtime.monotonic();
  }
}
