/** What the test tells a racer to do, and what it answers. Both travel as JSON. */
import type { EnqueueOptions } from "../../packages/holdfast/src/index.ts";

export const QUEUE = "race";
export const TYPE = "race.run";

/** What the handler does with it: so many turns of the event loop, then this. */
export interface RacePayload {
  readonly turns: number;
  /** In the first attempt; later ones succeed. */
  readonly first: "succeed" | "throw" | "snooze";
}

export interface RaceJob {
  readonly payload: RacePayload;
  readonly options?: EnqueueOptions;
}

export type Order =
  /** From now on it is about this file, which is opened with the next order. */
  | { readonly what: "begin"; readonly file: string }
  /** All at once, each by a caller of its own. */
  | { readonly what: "enqueue"; readonly jobs: readonly RaceJob[] }
  | { readonly what: "work"; readonly concurrency: number }
  /** Stops working and closes. */
  | { readonly what: "finish" };

export interface RaceReceipt {
  readonly id: string;
  readonly status: "added" | "duplicate";
}

/**
 * A lease as its holder saw it: from the reply that gave it to the settle that gave it back. The store
 * had it leased before and after that too, so two that overlap here overlap in the store.
 */
export interface SeenLease {
  readonly id: string;
  readonly group: string;
  readonly fence: number;
  readonly worker: string;
  /** CLOCK_MONOTONIC, which is one clock for all processes of a machine. */
  readonly from: number;
  readonly until: number;
}

export interface Answers {
  readonly begin: null;
  readonly enqueue: readonly RaceReceipt[];
  readonly work: null;
  readonly finish: readonly SeenLease[];
}

export type Reply =
  | { readonly what: "up" }
  | { readonly what: "answer"; readonly answer: Answers[keyof Answers] }
  | { readonly what: "trouble"; readonly text: string };
