/** Planted bugs around what stands on the engine: the ledger, locks, operations, gates. */
import type { GateState } from "../../../packages/holdfast/src/core/gate-state.ts";
import type { HoldChange } from "../../../packages/holdfast/src/core/line.ts";
import type { OperationRecord } from "../../../packages/holdfast/src/control/operations/operation.ts";
import type { Swap } from "../../../packages/holdfast/src/core/records.ts";
import type { Store } from "../../../packages/holdfast/src/core/store.ts";
import { inControl, type PlantedBug } from "./planted-bug.ts";

const LOCKS = "holdfast/locks/";
const OPERATIONS = "holdfast/operations/";
const STATES = "holdfast/gates/state/";

export const controlBugs: readonly PlantedBug[] = [
  inControl("failure-without-entry", "one failure in three has no entry", (store) => ({
    settle: (settlements) =>
      store.settle(
        settlements.map(({ entries, ...rest }) =>
          entries && rest.fence % 3 !== 1 ? { ...rest, entries } : rest,
        ),
      ),
  })),

  inControl("entry-twice", "the entry of a failure is also written after the settle", (store) => ({
    async settle(settlements) {
      const results = await store.settle(settlements);
      const again = settlements.flatMap(({ entries = [] }) =>
        entries.map((entry) => ({ ...entry, id: `${entry.id}-2` })),
      );
      if (again.length > 0) await store.ledger.append(again);
      return results;
    },
  })),

  inControl("step-not-marked", "a repeated step does not see what was done", (store) => ({
    async get(refs) {
      const found = await store.get(refs);
      return found.map((job) =>
        typeof job === "object" && job ? { ...job, by: null, updatedAt: job.createdAt } : job,
      );
    },
  })),

  inControl("lock-of-the-dead", "a lock is kept though its holder does not run", (store) => ({
    async get(refs) {
      const found = await store.get(refs);
      return found.map((job) =>
        typeof job === "object" && job?.type === "locked" && job.status !== "succeeded"
          ? { ...job, status: "processing" as const }
          : job,
      );
    },
  })),

  inControl("lock-without-compare", "the last one that asks for a lock has it", (store) => ({
    records: swapping(store, async (swaps) => {
      const results = await store.records.swap(swaps);
      const lost = results[0];
      if (!swaps[0]?.key.startsWith(LOCKS) || lost?.swapped !== false) return results;
      return store.records.swap([{ ...swaps[0], expect: lost.current?.version ?? null }]);
    }),
  })),

  inControl("step-before-work", "a step is written down as done before it is", (store) => ({
    records: swapping(store, (swaps) => store.records.swap(swaps.map(stepAhead))),
  })),

  inControl("token-returned-twice", "what is given back to a bucket counts twice", (store) => {
    const last = new Map<string, GateState["buckets"]>();
    return {
      records: swapping(store, (swaps) =>
        store.records.swap(swaps.map((swap) => givenTwice(swap, last))),
      ),
    };
  }),

  inControl("probe-not-shared", "every process counts probes for itself", (store) => {
    const own = new Set<string>();
    return {
      records: {
        ...store.records,
        async read(keys) {
          const found = await store.records.read(keys);
          return found.map((record) =>
            record?.key.startsWith(STATES)
              ? { ...record, value: withOwnProbes(record.value, own) }
              : record,
          );
        },
        async swap(swaps) {
          for (const { key, value } of swaps) {
            if (value !== null && key.startsWith(STATES)) learnProbes(value, own);
          }
          const results = await store.records.swap(swaps);
          return results.map((result) =>
            result.swapped || !result.current?.key.startsWith(STATES)
              ? result
              : {
                  ...result,
                  current: { ...result.current, value: withOwnProbes(result.current.value, own) },
                },
          );
        },
      },
    };
  }),

  inControl("hold-not-owned", "a gate that lifts its hold lifts a pause with it", (store) => ({
    hold: (changes) => store.hold(changes.flatMap(liftedWith)),
  })),
];

function swapping(store: Store, swap: Store["records"]["swap"]): Store["records"] {
  return { ...store.records, swap };
}

function stepAhead({ key, value, ...rest }: Swap): Swap {
  if (value === null || !key.startsWith(OPERATIONS)) return { key, value, ...rest };
  const operation = JSON.parse(value) as OperationRecord;
  const { step } = operation;
  return { key, value: step ? JSON.stringify({ ...operation, next: step.to }) : value, ...rest };
}

function givenTwice({ key, value, ...rest }: Swap, last: Map<string, GateState["buckets"]>): Swap {
  if (value === null || !key.startsWith(STATES)) return { key, value, ...rest };
  const state = JSON.parse(value) as GateState;
  const buckets = Object.fromEntries(
    Object.entries(state.buckets).map(([perMs, bucket]) => {
      const before = last.get(key)?.[perMs];
      const isGivenBack = before !== undefined && bucket.tokens > before.tokens + 0.5;
      const more = isGivenBack ? bucket.tokens - before.tokens : 0;
      return [perMs, { ...bucket, tokens: bucket.tokens + more }];
    }),
  );
  last.set(key, buckets);
  return { key, value: JSON.stringify({ ...state, buckets }), ...rest };
}

function learnProbes(value: string, own: Set<string>): void {
  const { breaker } = JSON.parse(value) as GateState;
  if (breaker.state === "half-open") for (const { id } of breaker.probes) own.add(id);
}

function withOwnProbes(value: string, own: ReadonlySet<string>): string {
  const state = JSON.parse(value) as GateState;
  const { breaker } = state;
  if (breaker.state !== "half-open") return value;
  const probes = breaker.probes.filter(({ id }) => own.has(id));
  return JSON.stringify({ ...state, breaker: { ...breaker, probes } });
}

function liftedWith(change: HoldChange): HoldChange[] {
  const isLifted = change.owner.startsWith("gate:") && change.hold === null;
  return isLifted ? [change, { ...change, owner: "pause" }] : [change];
}
