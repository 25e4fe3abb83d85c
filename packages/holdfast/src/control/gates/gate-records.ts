/** Where gates are kept: a record for each rule, and one for each state that is not at rest. */
import { AT_REST, type GateState } from "../../core/gate-state.ts";
import type { Records, StoredRecord } from "../../core/records.ts";
import type { Gate } from "./gate-options.ts";

export const RULES = "holdfast/gates/rule/";
const STATES = "holdfast/gates/state/";
const PAGE = 200;

export interface Known {
  readonly state: GateState;
  readonly version: number | null;
}

export const ABSENT: Known = { state: AT_REST, version: null };

export function stateKey({ name, id, isPerGroup }: Gate, group: string | null): string {
  return `${STATES}${name}/${id}${isPerGroup ? `/${group ?? ""}` : ""}`;
}

export function knownOf(record: StoredRecord | null | undefined): Known {
  if (!record) return ABSENT;
  return { state: JSON.parse(record.value) as GateState, version: record.version };
}

export async function readRules(records: Records): Promise<Map<string, Gate>> {
  const gates = new Map<string, Gate>();
  for await (const { value } of scanned(records, RULES)) {
    const gate = JSON.parse(value) as Gate;
    gates.set(gate.name, gate);
  }
  return gates;
}

/** In the order of the keys. */
export async function readStates(records: Records, keys: readonly string[]): Promise<Known[]> {
  const known: Known[] = [];
  for (let from = 0; from < keys.length; from += PAGE) {
    const found = await records.read(keys.slice(from, from + PAGE));
    known.push(...found.map(knownOf));
  }
  return known;
}

/** All states of a gate that was removed. */
export async function forgetStates(records: Records, { name, id }: Gate): Promise<void> {
  let swaps: { key: string; expect: number; value: null; ttlMs: null }[] = [];
  const forget = async () => {
    if (swaps.length > 0) await records.swap(swaps);
    swaps = [];
  };
  for await (const { key, version } of scanned(records, `${STATES}${name}/${id}`)) {
    swaps.push({ key, expect: version, value: null, ttlMs: null });
    if (swaps.length === PAGE) await forget();
  }
  await forget();
}

async function* scanned(records: Records, prefix: string): AsyncGenerator<StoredRecord> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Records["scan"]>> = await records.scan({
      ...{ prefix, limit: PAGE, cursor },
    });
    yield* page.records;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
