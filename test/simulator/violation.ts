/** The promises that are checked. Each has a file of its own in `invariants/`. */
export const INVARIANTS = [
  "an acknowledgement is true",
  "no job is lost",
  "one live job per key",
  "a tick fires once, in its time",
  "one holder at a time",
  "no stale write is accepted",
  "the fence only grows",
  "no job is early",
  "nothing runs without a lease",
  "a lost lease is told",
  "spawned jobs exist exactly with their parent's success",
  "ledger entries exist exactly with their outcome",
  "a stored step never runs again",
  "what was saved comes back",
  "attempts are counted by the rules",
  "crashes are counted by the rules",
  "nobody is charged for what it did not do",
  "a rolled back settle is no success",
  "nobody reaps too soon",
  "only the culprit becomes poison",
  "holds are respected",
  "caps are respected",
  "lines take fair turns",
  "priority, then age",
  "retention touches finished jobs only",
  "a cancel is kept",
  "the store shows what happened",
  "nothing spins",
  "a crashed worker's jobs come back in time",
  "work of one scope runs once at a time",
  "no work is skipped that is not done",
  "every failed attempt has one entry",
  "an operation touches each job once, and counts it",
  "a rate is kept by the whole fleet",
  "probes are the fleet's",
  "a hold is its owner's",
  "everything ends",
  "the engine leaves no error unheard",
] as const;

export type InvariantName = (typeof INVARIANTS)[number];

export interface Violation {
  readonly invariant: InvariantName;
  readonly message: string;
  readonly jobId: string | null;
}
