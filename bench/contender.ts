/** A job system, or the raw loop, as the scenarios see it. Every measurement opens one in a process of its own. */
import type { Holdfast, Store } from "../packages/holdfast/src/index.ts";
import type { Payload } from "./payload.ts";

export interface Contender {
  readonly name: string;
  /** One sentence: how it is set up, and what becomes of its finished jobs, for the report. */
  readonly setup: string;
  /** After its close it leaves timers behind, so that its process must be ended. */
  readonly doesNotEnd?: boolean;
  /** Why it cannot take part here; null if it can. */
  missing(): string | null;
  /** `place` is a file for an embedded store, and a URL for a server. */
  open(place: string, settings: SessionSettings): Promise<Session>;
}

export interface SessionSettings {
  /** Finished jobs stay; if not, they are deleted. Some contenders know only one of the two, and say so. */
  readonly keep: boolean;
  /** Stands between Holdfast and its store: to count what it asks. Peers know nothing of it. */
  readonly wrap?: (<Some extends object>(store: Some) => Some) | undefined;
  /** How many jobs run at once, where that is not `CONCURRENCY`. */
  readonly concurrency?: number | undefined;
  /** Holdfast without what it does by default: the ledger of failures, the statistics. */
  readonly without?: readonly ("ledger" | "stats")[] | undefined;
  /** Every job fails once, and is tried again at once. */
  readonly failsOnce?: boolean | undefined;
  /** Holdfast's own, of a store that counts as time passes: its clock, while it is filled. */
  readonly clock?: (() => number) | undefined;
}

export interface Session {
  /** Resolves once the job is durable. */
  enqueue(payload: Payload): Promise<void>;
  /** The fastest way in that its API has. Resolves once all are durable. */
  enqueueAll(payloads: readonly Payload[], options?: BulkOptions): Promise<void>;
  /** Starts a worker; the handler does nothing but tell the scenario. Returns the way to stop it. */
  run(handler: (payload: Payload) => void): Promise<() => Promise<void>>;
  /** At most so many jobs of any one group at once. Only where the contender has that. */
  limitGroups?(maxActive: number): Promise<void>;
  /** Holdfast's own: for what no peer has, and for filling it in the quickest way. */
  readonly store?: Store;
  /** Holdfast itself: for what people ask it. */
  readonly hf?: Holdfast;
  /** What it runs on and what it promises, read back from the open store wherever that is possible. */
  describe(): Promise<string>;
  close(): Promise<void>;
}

/** Only for contenders that have such things: the scenarios that ask for them are about Holdfast alone. */
export interface BulkOptions {
  /** By the place of the job in the call. */
  readonly groupOf?: ((index: number) => string) | undefined;
  readonly delayMs?: number | undefined;
}

/** How many jobs run at once. */
export const CONCURRENCY = 100;
