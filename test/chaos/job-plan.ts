/** Which job is the i-th: the same for the same seed, in whatever process and order it is asked. */
import type { EnqueueOptions, JobContract } from "../../packages/holdfast/src/index.ts";
import { seededRandom } from "../../packages/holdfast/src/testing/seeded-random.ts";
import * as jobs from "./contracts.ts";
import type { ChaosPayload, ChaosResult } from "./contracts.ts";

export interface PlannedJob {
  readonly key: string;
  readonly contract: JobContract<string, ChaosPayload, ChaosPayload, ChaosResult>;
  readonly payload: ChaosPayload;
  readonly options: EnqueueOptions;
  /** It may be enqueued again when nobody knows whether it was stored. */
  readonly isRepeatable: boolean;
  /** The producer acts as if the first answer got lost on its way. */
  readonly isForgotten: boolean;
}

type Range = readonly [least: number, most: number];

/**
 * Of a hundred jobs so many, and how long they take: in milliseconds, or in units. Enough
 * slow ones that a kill finds about five jobs running, enough quick ones that settles are always on
 * their way to the store.
 */
const KINDS: readonly {
  readonly contract: PlannedJob["contract"];
  readonly share: number;
  readonly ms?: Range;
  readonly units?: Range;
}[] = [
  { contract: jobs.quick, share: 68.5, ms: [5, 50] },
  { contract: jobs.slow, share: 10, units: [0.1, 0.3] },
  { contract: jobs.long, share: 1, units: [1.4, 1.6] },
  { contract: jobs.stubborn, share: 1.5, units: [0.1, 0.4] },
  { contract: jobs.flaky, share: 4, ms: [5, 50] },
  { contract: jobs.hung, share: 1, ms: [5, 50] },
  { contract: jobs.snoozing, share: 2, ms: [5, 50] },
  { contract: jobs.stepping, share: 3, units: [0.03, 0.15] },
  { contract: jobs.saving, share: 2, units: [0.03, 0.15] },
  { contract: jobs.spawning, share: 3, units: [0.01, 0.1] },
  { contract: jobs.fragile, share: 2, units: [0.1, 0.5] },
  { contract: jobs.single, share: 1, units: [0.05, 0.3] },
  { contract: jobs.doomed, share: 1, ms: [5, 50] },
];

/** Of those that settle in a transaction, so many keep it open for longer than a lease. */
const LONG_PART = 0.1;

function kindsOf(transactions: number): typeof KINDS {
  if (transactions === 0) return KINDS;
  const long = LONG_PART * transactions;
  return [
    ...KINDS,
    { contract: jobs.within, share: transactions - long, ms: [5, 50] },
    { contract: jobs.withinLong, share: long, units: [1.4, 1.6] },
  ];
}
const GROUPS = 5;

export function planJob(
  index: number,
  {
    seed,
    unitMs,
    transactions,
  }: { readonly seed: number; readonly unitMs: number; readonly transactions: number },
): PlannedJob {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ index);
  const key = `j${index}`;
  const { contract, ms, units } = drawKind(kindsOf(transactions), random());
  const [least, most] = ms ?? (units ?? [0, 0]).map((part) => part * unitMs);
  const isRepeatable = random() < 0.5;
  const isForgotten = isRepeatable && random() < 0.1;
  return {
    key,
    contract,
    payload: { key, ms: Math.round(least! + random() * (most! - least!)) },
    isRepeatable,
    isForgotten,
    options: {
      ...(isRepeatable && { idempotencyKey: key }),
      ...(random() < 0.3 && { group: `g${Math.floor(random() * GROUPS)}` }),
      ...(random() < 0.1 && { priority: Math.floor(random() * 200) }),
      ...(random() < 0.05 && { delayMs: Math.floor(random() * 0.2 * unitMs) }),
    },
  };
}

function drawKind(kinds: typeof KINDS, drawn: number): (typeof KINDS)[number] {
  let left = drawn * kinds.reduce((sum, { share }) => sum + share, 0);
  for (const kind of kinds) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  return kinds[0]!;
}
