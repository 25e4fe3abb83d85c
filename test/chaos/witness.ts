/**
 * The ledger outside the store: what each process saw, one JSON line each, in a file of its own.
 *
 * A line is one `write` on a descriptor opened for appending. It is in the page cache when the call
 * returns, so `kill -9` loses none that was written and tears none in two. No fsync: the processes
 * are killed here, not the machine.
 *
 * Times are CLOCK_MONOTONIC in milliseconds. It is one clock for all processes of the machine and
 * nobody sets it, so lines of different processes can be compared.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { OutcomeKind } from "../../packages/holdfast/src/core/outcome.ts";
import type { Receipt } from "../../packages/holdfast/src/index.ts";
import type { FaultKind } from "./strikes.ts";

/** One slot of a cluster was on two nodes since `from`. It may have been whole again from `healingAt` on. */
export interface SlotOutage {
  readonly from: number;
  readonly healingAt: number;
}

export interface FenceRef {
  readonly id: string;
  readonly fence: number;
}

export interface Leased extends FenceRef {
  readonly attempt: number;
}

export interface Settling extends FenceRef {
  readonly kind: OutcomeKind;
}

export interface Settled extends Settling {
  readonly answer: "settled" | "lost";
}

type ProducerSaw =
  | { readonly what: "try"; readonly key: string }
  | {
      readonly what: "acknowledged";
      readonly key: string;
      readonly id: string;
      readonly answer: Receipt["status"];
    }
  | {
      readonly what: "refused";
      readonly key: string;
      readonly error: string;
      /** False: the error says that surely nothing was stored. */
      readonly mayHaveHappened: boolean;
    };

/** `askedAt` is when a call to the store was sent; the line's own time is when it was answered. */
type WorkerSaw =
  | { readonly what: "up"; readonly concurrency: number }
  /** Before its first lease call: a killed worker's name is known even if no reply came. */
  | { readonly what: "named"; readonly worker: string }
  | { readonly what: "leased"; readonly askedAt: number; readonly jobs: readonly Leased[] }
  | {
      readonly what: "renewed";
      readonly askedAt: number;
      readonly kept: readonly FenceRef[];
      readonly lost: readonly FenceRef[];
    }
  /** From here on a transaction may have the job. */
  | { readonly what: "within"; readonly id: string; readonly fence: number }
  | { readonly what: "settling"; readonly jobs: readonly Settling[] }
  | { readonly what: "settled"; readonly askedAt: number; readonly jobs: readonly Settled[] }
  /** Expired leases that it put back, and whose they were. */
  | {
      readonly what: "reaped";
      readonly askedAt: number;
      readonly jobs: readonly { readonly id: string; readonly worker: string }[];
    }
  | {
      readonly what: "call failed";
      readonly verb: string;
      readonly askedAt: number;
      readonly error: string;
    }
  /** The first answer of the store, to whatever it was, after a call had failed or `from` was long ago. */
  | { readonly what: "answered again"; readonly from: number }
  | {
      readonly what: "start";
      readonly id: string;
      readonly fence: number;
      readonly attempt: number;
      readonly type: string;
      readonly key: string;
      /** How far an earlier attempt had come, by its checkpoint. */
      readonly row: number;
    }
  | {
      readonly what: "end";
      readonly id: string;
      readonly fence: number;
      readonly how: "returned" | "threw" | "aborted";
    }
  /** The body of a step ran; its result is not stored yet. */
  | {
      readonly what: "step ran";
      readonly id: string;
      readonly fence: number;
      readonly step: string;
    }
  /** The step's promise resolved: it must never run again. */
  | {
      readonly what: "step stored";
      readonly id: string;
      readonly fence: number;
      readonly step: string;
      readonly value: number;
    }
  /** The transaction in which it settled its job. */
  | { readonly what: "committed"; readonly id: string; readonly fence: number }
  | { readonly what: "saved"; readonly id: string; readonly fence: number; readonly row: number }
  /** The event loop did not turn since `from`. */
  | { readonly what: "stalled"; readonly from: number }
  | { readonly what: "log"; readonly level: "warn" | "error"; readonly text: string };

/** What the harness did to the process that is named in `to`. */
type HarnessSaw =
  | { readonly what: "began"; readonly to: string; readonly role: "worker" | "producer" }
  | { readonly what: "kill" | "stop" | "continue" | "terminate"; readonly to: string }
  | {
      readonly what: "exited";
      readonly to: string;
      readonly code: number | null;
      readonly signal: string | null;
    }
  /** Nobody could write to the store since `from`. */
  | { readonly what: "unwritable"; readonly from: number }
  /** Its way to the store was disturbed since `from`; by now it is whole again. */
  | {
      readonly what: "cut off";
      readonly to: string;
      readonly how: FaultKind;
      readonly from: number;
    }
  /** Nobody could reach the store since `from`. It may have come back at `healingAt`, and is back by now. */
  | {
      readonly what: "outage";
      readonly how: OutageKind;
      readonly from: number;
      readonly healingAt: number;
      /** If slots were moved one by one: each came back on its own. */
      readonly slots?: readonly SlotOutage[];
    }
  /** What a clock on the wall says at this moment. */
  | { readonly what: "clock"; readonly wallMs: number };

/**
 * `halted`: the server was ended in order and stayed away. `silent`: the network swallowed everything.
 * `moved slots`: it was never away, and every worker is asked for a job all the same.
 */
export type OutageKind = "restart" | "kill" | "halted" | "silent" | "failover" | "moved slots";

export type Saw = ProducerSaw | WorkerSaw | HarnessSaw;

/** `by` names a process: unlike a process id it is never used twice. */
export type WitnessLine = { readonly at: number; readonly by: string } & Saw;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

export class Witness {
  readonly by: string;
  readonly #descriptor: number;

  /** Several processes may be given one `file` one after the other: a producer and its successors. */
  constructor(folder: string, { by, file = by }: { readonly by: string; readonly file?: string }) {
    this.by = by;
    this.#descriptor = openSync(join(folder, `${file}${SUFFIX}`), "a");
  }

  saw(saw: Saw, at = monotonicMs()): void {
    writeSync(this.#descriptor, `${JSON.stringify({ at, by: this.by, ...saw })}\n`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const SUFFIX = ".jsonl";
/** Longer than any line but the longest lists of renewals, which nobody lies in wait for. */
const LONGEST_TAIL = 16_384;

/** Everything that was written in this folder, by time. */
export function readWitnesses(folder: string): WitnessLine[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(SUFFIX));
  return files.flatMap((file) => readLines(join(folder, file))).sort((a, b) => a.at - b.at);
}

/** What one file says; nothing if there is none yet. */
export function readWitness(folder: string, file: string): WitnessLine[] {
  return readdirSync(folder).includes(`${file}${SUFFIX}`)
    ? readLines(join(folder, `${file}${SUFFIX}`))
    : [];
}

/** Quick, for whoever lies in wait: it reads only the end of the file. */
export function lastWitness(folder: string, file: string): WitnessLine | null {
  return lastWitnesses(folder, file).at(-1) ?? null;
}

/** What is whole at the end of the file; at least the last line, but for the very longest. */
export function lastWitnesses(folder: string, file: string): WitnessLine[] {
  const descriptor = openSync(join(folder, `${file}${SUFFIX}`), "r");
  try {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, LONGEST_TAIL));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    // Behind the last end of a line there is nothing, or something that is being written.
    const lines = tail.toString("utf8").split("\n");
    const whole = lines.slice(tail.length === size ? 0 : 1, -1);
    return whole.map((line) => JSON.parse(line) as WitnessLine);
  } finally {
    closeSync(descriptor);
  }
}

function readLines(path: string): WitnessLine[] {
  const lines = readFileSync(path, "utf8").split("\n");
  // The last is empty, or half written by a process that is not done, or was killed.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as WitnessLine);
}
