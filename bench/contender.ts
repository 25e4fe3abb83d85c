/** A job system, or the raw loop, as the scenarios see it. Every measurement opens one in a process of its own. */
import type { Payload } from "./payload.ts";

export interface Contender {
  readonly name: string;
  /** One sentence: how it is set up, for the report. */
  readonly setup: string;
  /** Why it cannot take part here; null if it can. */
  missing(): string | null;
  /** `place` is a file for an embedded store, and would be a URL for a server. */
  open(place: string, settings: SessionSettings): Promise<Session>;
}

export interface SessionSettings {
  /** Finished jobs stay; if not, they are deleted. */
  readonly keep: boolean;
}

export interface Session {
  /** Resolves once the job is durable. */
  enqueue(payload: Payload): Promise<void>;
  /** The fastest way in that its API has. Resolves once all are durable. */
  enqueueAll(payloads: readonly Payload[], groupOf?: (index: number) => string): Promise<void>;
  /** Starts a worker; the handler does nothing but tell the scenario. Returns the way to stop it. */
  run(handler: (payload: Payload) => void): Promise<() => Promise<void>>;
  /** Holds the jobs of a group back. Only where the contender has groups. */
  hold?(group: string): Promise<void>;
  /** What it runs on and what it promises, read back from the open store wherever that is possible. */
  describe(): Promise<string>;
  close(): Promise<void>;
}

/** How many jobs run at once, and what the raw loop leases and settles in one go. */
export const CONCURRENCY = 100;
/** What a bulk enqueue puts into one transaction; Holdfast's engine decides for itself, about the same. */
export const BULK = 200;
