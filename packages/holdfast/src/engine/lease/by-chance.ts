/**
 * An order in which each is first as often as it weighs. Some of what a lease takes is not shared out between the
 * queues: jobs of capped lines, and bytes. Always asked in one order, the first could have all of it each time.
 */
import type { Runtime } from "../runtime.ts";

export function byChance<Share extends { readonly weight: number }>(
  shares: readonly Share[],
  { random }: Pick<Runtime, "random">,
): readonly Share[] {
  // The first of several alarms, each of which rings so often, is each one's so often.
  const drawn = shares.map((share) => ({ share, at: -Math.log(1 - random()) / share.weight }));
  return drawn.sort((one, other) => one.at - other.at).map(({ share }) => share);
}
