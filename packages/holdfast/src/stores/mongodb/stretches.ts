/**
 * Finished jobs lie in stretches of time, by their `finishedAt`. What lies in a stretch is counted once, by
 * upkeep (`seal-stretches.ts`), and the number kept in its document: it is sealed. A count adds those up and
 * passes over the rest only (`sealed-counts.ts`).
 *
 * A seal must be right whatever happens, so:
 *
 * - A job that finishes has its time from before its write. So a stretch is sealed only once it is
 *   `SETTLES_MS` old, and whoever finishes jobs writes nothing more.
 * - Whoever changes a job that has finished, or adds one, unseals its stretch first, and keeps it from being
 *   sealed for `SETTLES_MS`. A process that dies before, between or behind the two leaves no wrong number.
 * - Whoever notices that his write took longer than `LATE_MS` unseals once more behind it.
 * - Each unsealing gives the document another `rev`. A seal is written, and believed, for one `rev` only.
 *
 *     (cut) ──▶ open ──looked through, settled──▶ sealed ──somebody changes a job in it──▶ open
 *
 * Who finds no stretch for a time need not leave a trace: one that is cut later is open for `SETTLES_MS`.
 */
import { randomUUID } from "node:crypto";
import type { FinishedStatus } from "../../core/job.ts";
import type { Database } from "./database.ts";

export interface StretchDocument {
  /** Its first instant. */
  readonly _id: number;
  /** The first instant behind it. */
  readonly to: number;
  /** Another one each time it is unsealed. */
  readonly rev: string;
  /** Until then it must not be sealed: a change may be under way. */
  readonly notBefore: number;
  /** When somebody last began to look it through. */
  readonly lookedAt: number;
  /** What lies in it. Absent: it is open. */
  readonly sum?: StretchSum;
}

export interface StretchSum {
  readonly documents: number;
  readonly ended: readonly EndedRow[];
  readonly dead: readonly DeadRow[];
}

export interface EndedRow {
  readonly status: FinishedStatus;
  readonly queue: string;
  readonly n: number;
}

/** Dead jobs that are alike in all that they are counted by. */
export interface DeadRow {
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly error: { readonly category?: string; readonly fingerprint?: string };
  readonly count: number;
  readonly firstAt: number;
  readonly newest: { readonly at: number; readonly seq: number };
}

/** Beside them: who does upkeep knows of stretches. A build that does not may have changed jobs meanwhile. */
export interface WatchDocument {
  readonly _id: "watch";
  /** Without a break longer than `BREAK_MS`. */
  readonly since: number;
  readonly at: number;
}

/** Longer than a write can be under way: a transaction has a minute, a call seconds. */
export const SETTLES_MS = 900_000;
/** A write that took so long may land in a stretch that is being sealed. */
export const LATE_MS = SETTLES_MS / 3;
/** What is younger is in no stretch that is sealed before the write is done, or late. */
const YOUNG_MS = SETTLES_MS - LATE_MS;
/** What a process knows of stretches, and of those that it unsealed, it remembers for so long. */
const KNOWN_MS = YOUNG_MS / 2;
/** If upkeep that knows of stretches was away for longer, nobody knows who changed jobs meanwhile. */
export const BREAK_MS = 3_600_000;
export const BEGINNING = -Number.MAX_SAFE_INTEGER;

export function isStretch<Stretch extends { readonly _id: number }>(
  document: Stretch | WatchDocument,
): document is Stretch {
  return document._id !== "watch";
}

/** What this process knows of them. */
export class Stretches {
  /** How many finished documents make one. */
  readonly documents: number;
  nextLookAt = -Infinity;
  known: Known | null = null;

  constructor(documents = 10_000) {
    this.documents = documents;
  }
}

interface Known {
  readonly at: number;
  readonly all: readonly Pick<StretchDocument, "_id" | "to">[];
  readonly unsealed: Set<number>;
}

export interface Change {
  /** `Date.now()` before the time of the change was asked for: it goes on while a machine sleeps. */
  readonly since: number;
  /** When the jobs finished that are changed or added. */
  readonly times: readonly (number | null | undefined)[];
}

/** Does the write while the stretches of these times are open. */
export async function whileOpen<T>(
  db: Database,
  { since, times }: Change,
  write: () => Promise<T>,
): Promise<T> {
  // A caller's transaction changes no job that had finished, and ends before its stretch is sealed.
  if (db.isInTransaction) return write();
  const finished = times.filter((time) => time != null);
  await unseal(db, finished);
  try {
    return await write();
  } finally {
    if (Date.now() - since > LATE_MS) {
      db.options.stretches.known = null;
      await unseal(db, finished);
    }
  }
}

async function unseal(db: Database, times: readonly number[]): Promise<void> {
  if (times.length === 0) return;
  const now = await db.now();
  const old = times.filter((time) => time <= now - YOUNG_MS);
  if (old.length === 0) return;
  const { all, unsealed } = await knownBy(db, now);
  const ids = all
    .filter(({ _id, to }) => !unsealed.has(_id) && old.some((time) => _id <= time && time < to))
    .map(({ _id }) => _id);
  if (ids.length === 0) return;
  await unsealThese(db, { _id: { $in: ids } }, now);
  for (const id of ids) unsealed.add(id);
}

async function knownBy(db: Database, now: number): Promise<Known> {
  const { stretches } = db.options;
  const { known } = stretches;
  if (known !== null && known.at <= now && now < known.at + KNOWN_MS) return known;
  const found = await db.find<StretchDocument>(
    "stretches",
    { to: { $gt: BEGINNING } },
    { projection: { to: 1 } },
  );
  return (stretches.known = { at: now, all: found, unsealed: new Set() });
}

/** Resolves when a majority has it. */
export async function unsealThese(db: Database, which: object, now: number): Promise<void> {
  const $set = { rev: randomUUID(), notBefore: now + SETTLES_MS };
  await db.updateMany("stretches", { ...which }, { $set, $unset: { sum: "" } });
}
