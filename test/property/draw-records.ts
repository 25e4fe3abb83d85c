/** What is kept beside the jobs: ledger entries and records. */
import type { Amendment, LedgerFilter } from "../../packages/holdfast/src/core/ledger.ts";
import type { Draw } from "./draw.ts";
import type { Arbitrary } from "./fast-check.ts";
import type { DrawnEntry, DrawnLedgerFilter, DrawnSwap } from "./operation.ts";
import { DURATIONS_MS, ENTRY_IDS, RECORD_KEYS } from "./small-world.ts";

const LEDGER_FILTERS: readonly LedgerFilter[] = [
  {},
  { kind: "failure" },
  { kind: "audit", state: "open" },
  { ids: ["entry-1", "entry-9"] },
  { queue: "mail" },
  { group: "ann", category: "auth" },
  { type: "send" },
  { jobId: "nobody" },
  { kind: "failure", fingerprint: "f1" },
  { company: "acme" },
  { isFinal: true },
  { isFinal: false, kind: "failure" },
];

export function drawEntry(draw: Draw): Arbitrary<DrawnEntry> {
  return draw.record<DrawnEntry>({
    id: draw.from(ENTRY_IDS),
    kind: draw.from(["failure", "audit"]),
    jobId: draw.rarely(draw.id),
    type: draw.rarely(draw.type),
    queue: draw.rarely(draw.queue),
    group: draw.rarely(draw.group),
    category: draw.from([null, null, "network", "auth"]),
    fingerprint: draw.from([null, "f1", "f2"]),
    company: draw.from([null, "acme"]),
    isFinal: draw.from([null, true, false]),
    state: draw.from(["open", "resolved"]),
    body: draw.from(["{}", '{"text":"grüße ☃"}']),
    atInMs: draw.rarely(draw.inMs),
  });
}

export function drawLedgerFilter(draw: Draw): Arbitrary<DrawnLedgerFilter> {
  return draw.record<DrawnLedgerFilter>({
    known: draw.from(LEDGER_FILTERS),
    fromInMs: draw.rarely(draw.agoMs),
    toInMs: draw.rarely(draw.inMs),
  });
}

export function drawAmendment(draw: Draw): Arbitrary<Amendment> {
  const id = draw.from(ENTRY_IDS);
  const state = draw.from(["resolved", "open"]);
  const body = draw.from(['{"new":1}', "1"]);
  return draw.choice<Amendment>(
    { weight: 1, arbitrary: draw.record({ id, state }) },
    { weight: 1, arbitrary: draw.record({ id, body }) },
    { weight: 1, arbitrary: draw.record({ id, state, body }) },
  );
}

export function drawSwap(draw: Draw): Arbitrary<DrawnSwap> {
  return draw.record<DrawnSwap>({
    key: draw.from(RECORD_KEYS),
    expect: draw.from(["none", "seen", "seen", "stale"]),
    value: draw.from(["1", '{"two":2}', null]),
    ttlMs: draw.from([null, null, ...DURATIONS_MS]),
  });
}
