/**
 * A scenario is one question. Its variants answer it by turns, each time in a process of its own:
 * A, B, C, A, B, C… so that what else happens on the machine hits all of them alike.
 */
import type { Session, SessionSettings } from "./contender.ts";
import type { StoreName } from "./contenders/index.ts";

export interface Scenario {
  readonly name: string;
  readonly title: string;
  variants(size: Size): readonly Variant[];
  /** What the report shows of the measurements, in this order. */
  readonly lines: readonly Line[];
  /** Measured so often at most, if a round takes minutes. */
  readonly mostRounds?: number;
}

/** `quick`: small numbers that prove that everything works, and nothing else. */
export interface Size {
  readonly quick: boolean;
  readonly rounds: number;
  /** Of `pages`: so many succeeded jobs are newer than the dead ones. */
  readonly newerJobs: number;
  /** Of `idle`. */
  readonly idleSeconds: number;
}

export interface Variant {
  /** Unique in its scenario, and what the report calls it. */
  readonly label: string;
  /** By name. */
  readonly contender: string;
  readonly settings?: Partial<SessionSettings>;
  /** What waits in the store before the measurement; made once, then copied. */
  readonly prefill?: Prefill;
  measure(bench: MeasureBench): Promise<Metrics>;
}

export interface Prefill {
  /** Ready jobs. */
  readonly ready: number;
  /** The ready jobs belong to so many groups at random; 0 for none. */
  readonly groups?: number;
  /** At most so many of each group at once. */
  readonly perGroup?: number;
  /** Further jobs, spread over so many lines that are held. */
  readonly held?: { readonly jobs: number; readonly lines: number };
  /** Further jobs, due tomorrow. */
  readonly delayed?: number;
  /** Further jobs, which were run. */
  readonly finished?: number;
  /** So many other queues that each had one job, which is over. */
  readonly queues?: number;
  /** Further jobs that are dead, and then, newer than all of them, further jobs that succeeded. */
  readonly past?: {
    readonly dead: number;
    readonly newer: number;
    /** The dead ones died of so many faults. */
    readonly faults?: number;
  };
  /** Used in place instead of copied, because copying it would take longer than the measurement. */
  readonly inPlace?: boolean;
}

export interface MeasureBench {
  /** Where and who, by name: a second process may want to open it too, see producer.ts. */
  readonly store: StoreName;
  readonly contender: string;
  /** A new and empty one, or a copy of the prefilled one, or that itself if it is used in place. */
  place(): Promise<string>;
  /** Opens the variant's contender. */
  open(place: string): Promise<Session>;
}

/** By name: one number, or a series of them. */
export type Metrics = Readonly<Record<string, number | readonly number[]>>;

export interface Source {
  readonly variant: string;
  readonly metric: string;
}

export type Line =
  | ({
      readonly kind: "figure";
      readonly label: string;
      readonly unit: string;
      readonly target?: Target;
    } & Source)
  | ({ readonly kind: "series"; readonly label: string; readonly unit: string } & Source)
  /**
   * Computed within each round, then the median of these. If it is set against several, the largest
   * counts: in each round, of those that take part.
   */
  | {
      readonly kind: "ratio";
      readonly label: string;
      readonly of: Source;
      readonly by: readonly Source[];
      readonly target?: Target;
    }
  /** The sum over all rounds, for each variant that has the metric. The judged ones must have none. */
  | {
      readonly kind: "totals";
      readonly label: string;
      readonly metric: string;
      readonly judged: readonly string[];
    };

export type Target =
  { readonly atLeast: number } | { readonly below: number } | { readonly atMost: number };
