/**
 * The jobs that a lease gives. They come in texts of several jobs, because a list of all their parts
 * costs the driver more than reading them. What moves in their headers is the same in most of them
 * and comes beside the texts. lua/lease.lua says what is where.
 */
import type { Step } from "../../core/job.ts";
import type { LeasedJob } from "../../core/store.ts";
import { readBody } from "./body.ts";
import { AT, FLAGS, type HeaderTexts, MOVING_SIZE, readPriority, readTexts } from "./header.ts";

/** What most jobs do not have. */
export interface More {
  readonly checkpoint: string | null;
  readonly steps: readonly Step[];
}

export interface LeasedTexts {
  readonly queue: string;
  /** By the number of the job, from 1 on. */
  readonly more: ReadonlyMap<number, More>;
  readonly moving: readonly Buffer[];
  readonly longBodies: readonly string[];
  readonly texts: readonly Buffer[];
}

const NOTHING: More = { checkpoint: null, steps: [] };
/** Of a job in a text: sizes and the number of its moving part, and where its id begins. */
const IN_TEXT = { idSize: 0, moving: 2, staysSize: 4, bodySize: 8, id: 12 } as const;
/** In what stays of a header. */
const STAYS = {
  createdAt: AT.createdAt - MOVING_SIZE,
  runAt: AT.runAt - MOVING_SIZE,
  priority: AT.priority - MOVING_SIZE,
  texts: AT.texts - MOVING_SIZE,
} as const;

export function readLeasedJobs({
  queue,
  more,
  moving,
  longBodies,
  texts,
}: LeasedTexts): LeasedJob[] {
  const attempts = moving.map(readAttempt);
  const wide = moving.map((one) => (one.readUInt16LE(AT.flags) & FLAGS.widePriority) !== 0);
  const jobs: LeasedJob[] = [];
  let nextLong = 0;
  for (const text of texts) {
    let names: Names | null = null;
    for (let at = 0; at < text.length;) {
      const staysAt = at + IN_TEXT.id + text.readUInt16LE(at + IN_TEXT.idSize);
      const bodyAt = staysAt + text.readUInt32LE(at + IN_TEXT.staysSize);
      const end = bodyAt + text.readUInt32LE(at + IN_TEXT.bodySize);
      const body = end > bodyAt ? text.toString("utf8", bodyAt, end) : longBodies[nextLong++];
      const number = text.readUInt16LE(at + IN_TEXT.moving) - 1;
      const attempt = attempts[number];
      if (attempt === undefined || body === undefined)
        throw new Error("a lease answered too little");
      names = namesIn(text, { from: staysAt + STAYS.texts, to: bodyAt }, names);
      const id = text.toString("utf8", at + IN_TEXT.id, staysAt);
      const has = more.get(jobs.length + 1) ?? NOTHING;
      jobs.push({
        id,
        queue,
        // A job is found by its queue and its id here: there is nothing more to note.
        handle: id,
        ...attempt,
        ...readBody(body),
        group: names.group,
        type: names.type,
        tags: names.tags,
        priority: readPriority(text, staysAt + STAYS.priority, wide[number] ? names.end : null),
        checkpoint: has.checkpoint,
        steps: has.steps,
        createdAt: text.readDoubleLE(staysAt + STAYS.createdAt),
        runAt: text.readDoubleLE(staysAt + STAYS.runAt),
      });
      at = end;
    }
  }
  return jobs;
}

type LeasedAttempt = Pick<
  LeasedJob,
  "fence" | "attempt" | "maxAttempts" | "exhausted" | "crashes" | "deferrals"
>;

function readAttempt(moving: Buffer): LeasedAttempt {
  return {
    fence: moving.readDoubleLE(AT.fence),
    attempt: moving.readUInt32LE(AT.attempts),
    maxAttempts: moving.readUInt32LE(AT.maxAttempts),
    exhausted: (moving.readUInt16LE(AT.flags) & FLAGS.leaseSpent) === 0,
    crashes: moving.readUInt32LE(AT.crashes),
    deferrals: moving.readUInt32LE(AT.deferrals),
  };
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

type Names = HeaderTexts & Stretch;

/** Neighbours mostly have the same: reading them again would make them again. */
function namesIn(text: Buffer, { from, to }: Stretch, last: Names | null): Names {
  if (last !== null && text.compare(text, last.from, last.to, from, to) === 0) return last;
  return { ...readTexts(text, from), from, to };
}
