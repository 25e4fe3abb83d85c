/**
 * What a run is like. Every seed draws its own world and its own weather, and leaves some faults out
 * altogether: a storm of everything at once hides what one fault alone would show.
 */
import type { BreakerRule } from "../../packages/holdfast/src/core/breaker.ts";
import type { Rate } from "../../packages/holdfast/src/core/rate.ts";
import type { Draw } from "./draw.ts";

export interface Settings {
  readonly processes: number;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly pollMs: number;
  readonly groups: number;
  /** Producers hold back while so many jobs are queued or processing. */
  readonly maxLive: number;
  /** Its queues lie on several servers. */
  readonly hasSeveralServers: boolean;
  readonly enqueueEveryMs: number;
  readonly operateEveryMs: number;
  /** Null: a plain world, with neither a ledger nor locks, operations or gates. */
  readonly control: ControlSettings | null;
}

/** What a world under control has besides. */
export interface ControlSettings {
  /** Of a queue, or of each of its groups. */
  readonly rate: Rate;
  readonly isPerGroup: boolean;
  readonly breaker: BreakerRule;
  readonly controlEveryMs: number;
}

export type ChaosKind =
  | "crash"
  | "freeze"
  | "stop"
  | "partition"
  | "outage"
  | "longOutage"
  | "slowSpell"
  | "flakySpell"
  | "lostLeases"
  | "clockJump"
  | "storeClockBack";

/** Probabilities per call, and what befalls processes and the store meanwhile. */
export interface Weather {
  /** Fails before the store did it, and says so. */
  readonly refuse: number;
  /** Never arrives; the caller cannot know. */
  readonly loseRequest: number;
  /** Done, but the answer never comes. */
  readonly loseReply: number;
  /** The caller has given up when it is done at last. */
  readonly arriveLate: number;
  readonly slow: number;
  readonly loseHint: number;
  readonly chaosEveryMs: number;
  readonly chaos: Readonly<Record<ChaosKind, number>>;
  /** How often a job is of a kind that kills its process every time. */
  readonly killers: number;
}

export function drawSettings(draw: Draw): Settings {
  const leaseMs = draw.pick([1_000, 2_000, 5_000, 10_000]);
  return {
    processes: draw.whole(2, 5),
    concurrency: draw.whole(1, 6),
    leaseMs,
    renewMs: Math.floor(leaseMs * 0.3),
    pollMs: draw.pick([300, 1_000]),
    groups: draw.whole(0, 5),
    maxLive: Math.round(draw.magnitude(15, 150)),
    enqueueEveryMs: draw.magnitude(50, 2_000),
    operateEveryMs: draw.magnitude(200, 3_000),
    hasSeveralServers: draw.chance(0.4),
    control: null,
  };
}

/** From a stream of its own: a plain world of the same seed stays as it is. */
export function drawControl(draw: Draw): ControlSettings {
  return {
    rate: {
      limit: draw.whole(3, 20),
      perMs: draw.pick([1_000, 2_000]),
      burst: draw.whole(2, 5),
    },
    isPerGroup: draw.chance(0.3),
    breaker: {
      failures: draw.whole(2, 4),
      withinMs: 20_000,
      openMs: draw.whole(3_000, 6_000),
      probes: draw.whole(1, 3),
    },
    controlEveryMs: draw.magnitude(500, 3_000),
  };
}

export function drawWeather(draw: Draw, leaseMs: number): Weather {
  const maybe = (value: number) => (draw.chance(0.65) ? value : 0);
  return {
    refuse: maybe(draw.magnitude(0.001, 0.03)),
    loseRequest: maybe(draw.magnitude(0.001, 0.03)),
    loseReply: maybe(draw.magnitude(0.001, 0.05)),
    arriveLate: maybe(draw.magnitude(0.001, 0.02)),
    slow: maybe(draw.magnitude(0.001, 0.05)),
    loseHint: draw.pick([0, 0.1, 1]),
    chaosEveryMs: draw.magnitude(leaseMs / 4, leaseMs * 2),
    chaos: {
      crash: maybe(3),
      freeze: maybe(2),
      stop: maybe(1.5),
      partition: maybe(3),
      outage: maybe(1),
      longOutage: maybe(0.8),
      slowSpell: maybe(1),
      flakySpell: maybe(1),
      lostLeases: maybe(1),
      clockJump: 1,
      storeClockBack: maybe(0.5),
    },
    killers: maybe(draw.magnitude(0.01, 0.06)),
  };
}
