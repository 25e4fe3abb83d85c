/** What is done to whom, and when: drawn from the seed. */
import { seededRandom } from "../../packages/holdfast/src/testing/seeded-random.ts";

/** Against a process, against its way to the store, and against the server. */
export type StrikeKind =
  | ("kill" | "kill after commit" | "stop" | "terminate" | "kill producer")
  | "cut off"
  | ServerStrikeKind;
export type ServerStrikeKind =
  "restart server" | "kill server" | "outage" | "fail over" | "move slots";

/**
 * What becomes of one process's connections. `cut`: ended. `hole`: everything is swallowed for a
 * while. `slow`: everything takes long. `deaf`: requests arrive, the replies are lost.
 */
export const FAULT_KINDS = ["cut", "hole", "slow", "deaf"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Strike {
  readonly kind: StrikeKind;
  /** Of a `cut off`. */
  readonly fault: FaultKind;
  /** Since the strike before. */
  readonly afterMs: number;
  /** Pick whom to strike and whom to leave alone, among those there are: from 0 to 1. */
  readonly pick: number;
  readonly sparePick: number;
  /** Waits for the moment between a question to the store and its answer. */
  readonly isAmbush: boolean;
  /** How long it lasts. A stop and an outage are always longer than a lease. */
  readonly lengthMs: number;
}

export interface StrikeCounts {
  readonly kills: number;
  /** Of a worker that has just committed a transaction in which it settled its job. */
  readonly commitKills: number;
  readonly stops: number;
  readonly terms: number;
  readonly producerKills: number;
  /** Of the network of one process. */
  readonly faults: number;
  readonly restarts: number;
  readonly serverKills: number;
  /** Of the server for everybody, for longer than a lease. */
  readonly outages: number;
  /** Planned: a replica takes over, and an address follows it. */
  readonly failovers: number;
  /** Of a cluster, under load; with the first of them a node is added. */
  readonly moves: number;
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
    ...repeat<StrikeKind>("kill after commit", counts.commitKills),
    ...repeat<StrikeKind>("stop", counts.stops),
    ...repeat<StrikeKind>("terminate", counts.terms),
    ...repeat<StrikeKind>("kill producer", counts.producerKills),
    ...repeat<StrikeKind>("cut off", counts.faults),
    ...repeat<StrikeKind>("restart server", counts.restarts),
    ...repeat<StrikeKind>("kill server", counts.serverKills),
    ...repeat<StrikeKind>("outage", counts.outages),
    ...repeat<StrikeKind>("fail over", counts.failovers),
    ...repeat<StrikeKind>("move slots", counts.moves),
  ];
  for (let at = kinds.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [kinds[at], kinds[other]] = [kinds[other]!, kinds[at]!];
  }
  let faults = 0;
  return kinds.map((kind) => {
    // In turn, so that none is left out.
    const fault = FAULT_KINDS[faults % FAULT_KINDS.length]!;
    if (kind === "cut off") faults += 1;
    return {
      kind,
      fault,
      afterMs: 2 * random() * spacingMs,
      pick: random(),
      sparePick: random(),
      isAmbush: isAmbush(kind, fault, random()),
      lengthMs: leaseMs * (kind === "cut off" ? 0.1 + 1.3 * random() : 1.15 + 0.6 * random()),
    };
  });
}

function isAmbush(kind: StrikeKind, fault: FaultKind, drawn: number): boolean {
  if (kind === "cut off") return fault === "deaf" || (fault === "cut" && drawn < 0.5);
  return kind === "kill producer" || (kind === "stop" && drawn < 0.5);
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
