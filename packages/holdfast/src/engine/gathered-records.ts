/**
 * Records for what looks at one of them at a time, in many places at once: gates of a thousand groups, locks of a
 * hundred jobs. While one call is on its way, the next ones gather and leave together. Each would else be a call of
 * its own, and all of them together slower than the quarter of a second that a grant is good for.
 */
import type { Records, StoredRecord, Swap, SwapResult } from "../core/records.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { Batcher } from "./produce/batcher.ts";

/** Of a call: the seam takes no more. */
const MOST_ITEMS = 200;
const MOST_BYTES = 4 * 1024 * 1024;
/** One slow call does not hold up all others. */
const AT_ONCE = 2;

export function gatheredRecords(records: Records): Records {
  const shared = {
    // The first one leaves at once: mostly it is alone.
    defer: (callback: () => void) => callback(),
    ...{ maxItems: MOST_ITEMS, maxBytes: MOST_BYTES, atOnce: AT_ONCE },
    // A store that is away is away for each of them.
    isolate: (error: unknown) => !(error instanceof StoreUnavailableError),
  };
  const reads = new Batcher<string, StoredRecord | null>({
    ...{ ...shared, bytesOf: () => 0 },
    run: (keys) => records.read(keys),
  });
  const swaps = new Batcher<Swap, SwapResult>({
    ...{ ...shared, bytesOf: ({ key, value }) => key.length + (value?.length ?? 0) },
    run: (some) => records.swap(some),
  });
  return {
    async read(keys) {
      return keys.length === 1 ? [await reads.add(keys[0]!)] : records.read(keys);
    },
    async swap(some) {
      return some.length === 1 ? [await swaps.add(some[0]!)] : records.swap(some);
    },
    scan: (request) => records.scan(request),
  };
}
