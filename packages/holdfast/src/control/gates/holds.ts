/**
 * Holds follow the records of gates. The record is the truth: after a hold was set or released it is read again,
 * and what has changed meanwhile is put right.
 *
 * The hold of an open breaker outlives `openMs`: it is lifted when a probe is granted. It is renewed while the
 * breaker is open, and ends by itself a minute later if every process that knew of it is gone.
 */
import type { GateState } from "../../core/gate-state.ts";
import type { HoldChange } from "../../core/line.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { Gate, GateLine, QueueParts } from "./gate-options.ts";
import type { Meter } from "./meter.ts";

type Lines = ExtensionHost["lines"];
type Names = QueueParts["names"];
type NewHold = NonNullable<HoldChange["hold"]>;

/** The hold of an open breaker lasts so much longer, unless a probe is granted. */
const SPARE_MS = 60_000;
/** A state that changes while its holds are set is followed so often at once. */
const MOST_TURNS = 5;
const PAGE = 200;

export function ownerOf({ name }: Pick<Gate, "name">): string {
  return `gate:${name}`;
}

/** Brings the holds of a breaker and a cooldown in line with its record. */
export async function followState(lines: Lines, meter: Meter, names: Names): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { cell, gate } = meter;
    const state = cell.state ?? (await cell.read());
    const now = await cell.now();
    const changes = linesOf(gate, meter.group, names).map((line): HoldChange => ({
      ...{ ...line, owner: ownerOf(gate), hold: holdOf(gate, state, line, now) },
    }));
    if (changes.length === 0) return;
    await holdAll(lines, changes);
    const after = await cell.read();
    if (isSameStanding(state, after) && cell.gate === gate) return;
  }
}

export function linesOf(gate: Gate, group: string | null, names: Names): readonly GateLine[] {
  const targets = targetsOf(gate, names);
  return gate.isPerGroup ? targets.map(({ queue }) => ({ queue, group: group ?? "" })) : targets;
}

/** With the parts that its queues have now. */
export function targetsOf({ targets }: Gate, names: Names): readonly GateLine[] {
  return targets.flatMap(({ queue, group }) =>
    names(queue).map((part) => ({ queue: part, group })),
  );
}

/** Null: nothing is to be held. */
function holdOf(gate: Gate, state: GateState, { group }: GateLine, now: number): NewHold | null {
  if (gate.forced === "open" && !gate.isPerGroup) return forcedHold(gate);
  if (gate.forced !== "auto") return null;
  const cooldownMs = Math.ceil((state.cooldownUntil ?? now) - now);
  if (cooldownMs > 0) {
    const reason = `gate ${gate.name} cools down: the other side asked for patience`;
    return { forMs: cooldownMs, reason, by: null };
  }
  if (!gate.breaker || state.breaker.state !== "open") return null;
  // Jobs of a line are judged one by one when it ends; a whole queue is asked for before.
  const forMs = Math.ceil(state.breaker.until - now) + (group === null ? SPARE_MS : 0);
  if (forMs <= 0) return null;
  return { forMs, reason: `the breaker of gate ${gate.name} is open`, by: null };
}

export function forcedHold(gate: Gate, by: string | null = null, why?: string | null): NewHold {
  const reason = `gate ${gate.name} was opened by hand${why ? `: ${why}` : ""}`;
  return { forMs: null, reason, by };
}

export async function holdAll(lines: Lines, changes: readonly HoldChange[]): Promise<void> {
  for (let from = 0; from < changes.length; from += PAGE) {
    await lines.hold(changes.slice(from, from + PAGE));
  }
}

/** Releases every hold of a gate on these queues and their lines. */
export async function releaseAll(
  lines: Lines,
  name: string,
  queues: Iterable<string>,
): Promise<void> {
  const owner = ownerOf({ name });
  for (const queue of new Set(queues)) {
    await lines.hold([{ queue, group: null, owner, hold: null }]);
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Lines["lines"]>> = await lines.lines(queue, {
        ...{ limit: PAGE, cursor },
      });
      const held = page.lines.filter(({ holds }) => holds.some((hold) => hold.owner === owner));
      const changes = held.map(({ group }) => ({ queue, group, owner, hold: null }));
      if (changes.length > 0) await lines.hold(changes);
      cursor = page.nextCursor;
    } while (cursor !== null);
  }
}

function isSameStanding(one: GateState, other: GateState): boolean {
  return (
    one.cooldownUntil === other.cooldownUntil &&
    one.breaker.state === other.breaker.state &&
    (one.breaker.state !== "open" ||
      one.breaker.until === (other.breaker as { until: number }).until)
  );
}
