/** What is done to whom, and when: drawn from the seed. */
import { seededRandom } from "../../src/testing/seeded-random.ts";

export type StrikeKind = "kill" | "stop" | "terminate" | "kill producer";

export interface Strike {
  readonly kind: StrikeKind;
  /** Since the strike before. */
  readonly afterMs: number;
  /** Pick whom to strike and whom to leave alone, among those there are: from 0 to 1. */
  readonly pick: number;
  readonly sparePick: number;
  /** Waits for the moment between a question to the store and its answer. */
  readonly isAmbush: boolean;
  /** How long a stop lasts: always longer than a lease. */
  readonly lengthMs: number;
}

export interface StrikeCounts {
  readonly kills: number;
  readonly stops: number;
  readonly terms: number;
  readonly producerKills: number;
}

export function planStrikes(
  counts: StrikeCounts,
  {
    seed,
    spacingMs,
    leaseMs,
  }: { readonly seed: number; readonly spacingMs: number; readonly leaseMs: number },
): Strike[] {
  const random = seededRandom(seed);
  const kinds: StrikeKind[] = [
    ...repeat<StrikeKind>("kill", counts.kills),
    ...repeat<StrikeKind>("stop", counts.stops),
    ...repeat<StrikeKind>("terminate", counts.terms),
    ...repeat<StrikeKind>("kill producer", counts.producerKills),
  ];
  for (let at = kinds.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [kinds[at], kinds[other]] = [kinds[other]!, kinds[at]!];
  }
  return kinds.map((kind) => ({
    kind,
    afterMs: 2 * random() * spacingMs,
    pick: random(),
    sparePick: random(),
    isAmbush: kind === "kill producer" || (kind === "stop" && random() < 0.5),
    lengthMs: leaseMs * (1.15 + 0.6 * random()),
  }));
}

function repeat<Item>(item: Item, times: number): Item[] {
  return Array.from({ length: times }, () => item);
}

export interface Candidate {
  readonly name: string;
  /** Since when it has been in touch with the store without a break. */
  readonly healthySince: number;
}

/**
 * Who is left alone by the next strike: somebody who may reap. That takes one lease length in touch
 * with the store, and a promise about recovery needs somebody who recovers. The part goes round among
 * those who have been there that long; until there is one, whoever has it keeps it.
 */
export function spare(
  candidates: readonly Candidate[],
  options: {
    readonly before: string | null;
    readonly pick: number;
    readonly now: number;
    readonly leaseMs: number;
  },
): string | null {
  const { before, pick, now, leaseMs } = options;
  const elders = candidates.filter(({ healthySince }) => now - healthySince > leaseMs);
  if (elders.length > 0) return elders[Math.floor(pick * elders.length)]!.name;
  const oldest = [...candidates].sort((a, b) => a.healthySince - b.healthySince)[0];
  return candidates.find(({ name }) => name === before)?.name ?? oldest?.name ?? null;
}
