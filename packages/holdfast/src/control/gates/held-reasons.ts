/** Why a gate holds a line back, and until when: for people, and for `why`. Reads the records: they are the truth. */
import { askGate, type HeldBy } from "../../core/gate-state.ts";
import type { Records } from "../../core/records.ts";
import type { GateLine } from "./gate-options.ts";
import { knownOf, readRules, stateKey } from "./gate-records.ts";

export interface HeldReason {
  readonly gate: string;
  readonly kind: HeldBy;
  /** When it is worth another try; null: when something happens. */
  readonly until: Date | null;
  readonly message: string;
}

const MESSAGE: Record<HeldBy, string> = {
  forced: 'was opened by hand: hf.gates.force(name, "auto") ends it',
  cooldown: "cools down, because the other side asked for patience",
  breaker: "is open, because the other side is down",
  rate: "has used up its rate",
};

/** `queues`: one, and that of which it is a part. Most decisive first is the order of a gate's own questions; one reason for each gate that holds. */
export async function heldReasons(
  records: Records,
  { queues, group }: { readonly queues: readonly string[]; readonly group: string | null },
  now: number,
): Promise<HeldReason[]> {
  const isMet = (line: GateLine) =>
    queues.includes(line.queue) && (line.group === null || line.group === group);
  const gates = [...(await readRules(records)).values()].filter(({ targets }) =>
    targets.some(isMet),
  );
  if (gates.length === 0) return [];
  const found = await records.read(gates.map((gate) => stateKey(gate, group)));
  return gates.flatMap((gate, at) => {
    const ask = { least: 1, wanted: 1, mark: "", probeMs: 0 };
    const [, { heldBy, waitMs }] = askGate(knownOf(found[at]).state, gate, ask, now);
    if (heldBy === null) return [];
    const until = waitMs === null ? null : new Date(Math.ceil(now + waitMs));
    return [
      { gate: gate.name, kind: heldBy, until, message: `gate ${gate.name} ${MESSAGE[heldBy]}` },
    ];
  });
}
