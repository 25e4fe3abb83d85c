/** What stands between a process and its store in these scenarios: lost answers, and planted bugs. */
import type { GateState } from "../../packages/holdfast/src/core/gate-state.ts";
import type { HoldChange } from "../../packages/holdfast/src/core/line.ts";
import type { Swap } from "../../packages/holdfast/src/core/records.ts";
import { StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";

export type Link = (store: Store) => Store;

const STATES = "holdfast/gates/state/";

/** Some writes of gates happen, and their answer is lost. */
export function losing(isLost: () => boolean): Link {
  return (store) =>
    withRecords(store, (records) => ({
      swap: async (swaps) => {
        const results = await records.swap(swaps);
        const isOfGates = swaps.every(({ key }) => key.startsWith(STATES));
        if (!isOfGates || !isLost()) return results;
        throw new StoreUnavailableError("the answer got lost", { mayHaveHappened: true });
      },
    }));
}

/** Bug: what is given back to a bucket is given back twice. */
export function returningTwice(store: Store): Store {
  const last = new Map<string, GateState["buckets"]>();
  const doubled = ({ key, value, ...rest }: Swap): Swap => {
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
  };
  return withRecords(store, (records) => ({ swap: (swaps) => records.swap(swaps.map(doubled)) }));
}

/** Bug: every process counts probes (and tokens) for itself. */
export function countingAlone(name: string): Link {
  const own = (key: string) => (key.startsWith(STATES) ? `${STATES}alone/${name}/${key}` : key);
  return (store) =>
    withRecords(store, (records) => ({
      read: (keys) => records.read(keys.map(own)),
      swap: (swaps) => records.swap(swaps.map((swap) => ({ ...swap, key: own(swap.key) }))),
    }));
}

/** Bug: who lifts the hold of a gate lifts an operator's with it. */
export function liftingAll(store: Store): Store {
  const all = (change: HoldChange): HoldChange[] =>
    change.owner.startsWith("gate:") && change.hold === null
      ? [change, { ...change, owner: "pause" }]
      : [change];
  return proxied(store, { hold: (changes) => store.hold(changes.flatMap(all)) });
}

function withRecords(
  store: Store,
  change: (records: Store["records"]) => Partial<Store["records"]>,
): Store {
  const { records } = store;
  const plain: Store["records"] = {
    read: (keys) => records.read(keys),
    swap: (swaps) => records.swap(swaps),
    scan: (request) => records.scan(request),
  };
  return proxied(store, { records: { ...plain, ...change(plain) } });
}

function proxied(store: Store, changed: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name, receiver) =>
      name in changed
        ? changed[name as keyof Store]
        : (Reflect.get(target, name, receiver) as unknown),
  });
}
