/**
 * How much a run of the tests does. Both tiers ask the same questions; `full` asks them more often.
 *
 *     npm test             daily: in a few minutes, before every change
 *     npm run test:full    everything, with as many kills and random runs as are worth waiting for
 */
const TIERS = ["daily", "full"] as const;
export type Tier = (typeof TIERS)[number];

/** What a test that is left out in the daily tier gives as its reason. */
const FULL_TIER = "full tier";

export const TIER = tierFrom(process.env["HOLDFAST_TEST_TIER"]);

/** Absent and empty are the daily one. A word that is none must not pass for it. */
export function tierFrom(name = ""): Tier {
  const tier = TIERS.find((one) => one === (name === "" ? "daily" : name));
  if (tier !== undefined) return tier;
  throw new Error(`HOLDFAST_TEST_TIER is ${TIERS.join(" or ")}, not "${name}"`);
}

/** For whatever is drawn, repeated or waited for: `inTier({ daily: 50, full: 500 })`. */
export function inTier<T>(of: Readonly<Record<Tier, T>>): T {
  return of[TIER];
}

/** Ends the calling test in the daily tier; it is named as not run, and does not count as passed. */
export function onlyInFull(test: { skip(condition: boolean, note: string): void }): void {
  test.skip(TIER !== "full", FULL_TIER);
}

export function notRun(what: string, why: string = FULL_TIER): string {
  return `not run: ${what} (${why})`;
}
