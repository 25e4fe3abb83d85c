/** What became of each process: when it was up, what was done to it, and what stood in its way. */
import type { FaultKind } from "../strikes.ts";
import type { WitnessLine } from "../witness.ts";
import type { Span } from "./span.ts";

export interface CutOff extends Span {
  readonly how: FaultKind;
}

export interface ProcessStory {
  readonly name: string;
  readonly role: "worker" | "producer";
  /** What the store calls its worker. */
  worker: string | null;
  upAt: number | null;
  concurrency: number;
  killedAt: number | null;
  terminatedAt: number | null;
  exitedAt: number | null;
  exit: { readonly code: number | null; readonly signal: string | null } | null;
  readonly stops: Span[];
  /** Its way to the store was disturbed, its alone. */
  readonly cutOffs: CutOff[];
  /** Calls to the store that failed. */
  readonly failures: Span[];
  /** From one answer of the store to the next, with nothing between, or only failures. */
  readonly silences: Span[];
  /** Its event loop stood still, or a call to the store took long. */
  readonly stalls: Span[];
}

export function processStories(
  lines: readonly WitnessLine[],
  leaseMs: number,
): ReadonlyMap<string, ProcessStory> {
  const stories = new Map<string, ProcessStory>();
  const stoppedAt = new Map<string, number>();
  for (const line of lines) {
    if (line.what === "began") {
      const { to: name, role } = line;
      stories.set(name, { name, role, ...UNTOLD, ...noSpans() });
      continue;
    }
    const story = stories.get("to" in line ? line.to : line.by);
    if (!story) continue;
    if ("askedAt" in line && line.at - line.askedAt > leaseMs / 10) {
      story.stalls.push({ from: line.askedAt, to: line.at });
    }
    switch (line.what) {
      case "named":
        story.worker = line.worker;
        break;
      case "up":
        story.upAt = line.at;
        story.concurrency = line.concurrency;
        break;
      case "cut off":
        story.cutOffs.push({ from: line.from, to: line.at, how: line.how });
        break;
      case "call failed":
        story.failures.push({ from: line.askedAt, to: line.at });
        break;
      case "answered again":
        story.silences.push({ from: line.from, to: line.at });
        break;
      case "stalled":
        story.stalls.push({ from: line.from, to: line.at });
        break;
      case "kill":
        story.killedAt = line.at;
        break;
      case "terminate":
        story.terminatedAt = line.at;
        break;
      case "stop":
        stoppedAt.set(line.to, line.at);
        break;
      case "continue":
        story.stops.push({ from: stoppedAt.get(line.to) ?? line.at, to: line.at });
        break;
      case "exited":
        story.exitedAt = line.at;
        story.exit = { code: line.code, signal: line.signal };
        break;
      default:
    }
  }
  return stories;
}

function noSpans() {
  return { stops: [], cutOffs: [], failures: [], silences: [], stalls: [] };
}

const UNTOLD = {
  worker: null,
  upAt: null,
  concurrency: 0,
  killedAt: null,
  terminatedAt: null,
  exitedAt: null,
  exit: null,
};

/** A worker goes on under a new name after a lost reply of a lease: `id.1`, `id.2`. It is the same worker. */
export function firstNameOf(worker: string): string {
  return worker.replace(/(:[0-9a-f]{8})\.\d+$/, "$1");
}
