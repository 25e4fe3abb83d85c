/**
 * A rate as a token bucket: it holds `burst` tokens, and `limit` of them come back every `perMs`. So in every
 * window of `perMs` at most `limit + burst` are granted, wherever the window begins. Pure: state in, state out.
 */

export interface Rate {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
}

export interface Bucket {
  readonly tokens: number;
  /** When it was last filled, by the store's clock. */
  readonly at: number;
}

/** One bucket for each rate, by its `perMs`: a list of rates has each only once. */
export type Buckets = Readonly<Record<string, Bucket>>;

/** Sums of parts of tokens are not exact: this much less than one is one. */
const NEARLY = 1e-9;

export interface Taken {
  readonly granted: number;
  /** When there will be enough again; 0 if something was granted. */
  readonly waitMs: number;
}

/**
 * Takes what there is for all of the rates, up to `wanted` (and up to half of what is left then, for `ahead`);
 * nothing if that is less than `least`.
 */
export function takeTokens(
  buckets: Buckets,
  rates: readonly Rate[],
  { least, wanted, ahead = 0 }: { least: number; wanted: number; ahead?: number },
  now: number,
): readonly [Buckets, Taken] {
  const full = refill(buckets, rates, now);
  const available = Math.min(
    ...rates.map(({ perMs }) => Math.floor(full[perMs]!.tokens + NEARLY)),
    Number.MAX_SAFE_INTEGER,
  );
  if (available < least) {
    const waits = rates.map((rate) => untilMs(full[rate.perMs]!, rate, least));
    return [full, { granted: 0, waitMs: Math.max(1, ...waits) }];
  }
  const first = Math.min(wanted, available);
  const granted = first + Math.min(ahead, Math.floor((available - first) / 2));
  return [added(full, rates, () => -granted), { granted, waitMs: 0 }];
}

/**
 * Gives back what was taken and not used. While it was away the bucket could not overflow where it would
 * have: as much as came in since then is taken off, or a window could have more than its share.
 */
export function giveBack(
  buckets: Buckets,
  rates: readonly Rate[],
  { tokens, takenAt }: { readonly tokens: number; readonly takenAt: number },
  now: number,
): Buckets {
  const awayMs = Math.max(0, now - takenAt);
  return added(refill(buckets, rates, now), rates, ({ limit, perMs }) =>
    Math.max(0, tokens - (awayMs * limit) / perMs),
  );
}

/** As they are now. A rate that is new begins with all of its burst. */
export function refill(buckets: Buckets, rates: readonly Rate[], now: number): Buckets {
  return Object.fromEntries(
    rates.map(({ limit, perMs, burst }) => {
      const bucket = buckets[perMs];
      if (!bucket) return [perMs, { tokens: burst, at: now }];
      // A clock that seems to run backwards brings nothing.
      const came = (Math.max(0, now - bucket.at) * limit) / perMs;
      return [
        perMs,
        { tokens: Math.min(burst, bucket.tokens + came), at: Math.max(bucket.at, now) },
      ];
    }),
  );
}

/** In how many milliseconds all of them are full: from then on there is nothing to remember. */
export function fullInMs(buckets: Buckets, rates: readonly Rate[], now: number): number {
  const full = refill(buckets, rates, now);
  return Math.max(0, ...rates.map((rate) => untilMs(full[rate.perMs]!, rate, rate.burst)));
}

function untilMs({ tokens }: Bucket, { limit, perMs }: Rate, wanted: number): number {
  return Math.ceil((Math.max(0, wanted - tokens - NEARLY) * perMs) / limit);
}

function added(buckets: Buckets, rates: readonly Rate[], tokens: (rate: Rate) => number): Buckets {
  return Object.fromEntries(
    rates.map((rate) => {
      const bucket = buckets[rate.perMs]!;
      const sum = Math.min(rate.burst, bucket.tokens + tokens(rate));
      return [rate.perMs, { tokens: sum, at: bucket.at }];
    }),
  );
}
