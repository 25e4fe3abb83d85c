/** A job's header, as the scripts pack it (lua/header.lua): change both together. */
import { ERROR_CATEGORIES, type JobStatus } from "../../core/job.ts";

export const STATUSES: readonly JobStatus[] = [
  "queued",
  "processing",
  "succeeded",
  "dead",
  "cancelled",
];

const FLAGS = { resultDropped: 1, cancelAsked: 2, leaseSpent: 4, key: 128 } as const;
/** Where the texts begin, behind the numbers. */
const TEXTS_AT = 110;

export interface Header {
  readonly status: JobStatus;
  readonly resultDropped: boolean;
  readonly cancelAsked: boolean;
  readonly leaseSpent: boolean;
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly deferrals: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly runAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly leaseUntil: number | null;
  readonly fence: number;
  readonly group: string;
  readonly type: string;
  readonly worker: string | null;
  readonly tags: readonly string[];
  readonly key: string | null;
}

export function readHeader(packed: Buffer): Header {
  const status = STATUSES[packed.readUInt8(0) - 1] ?? "queued";
  const flags = packed.readUInt16LE(1);
  const [group, worker, rest] = partsOf(packed, TEXTS_AT);
  const [type, tags, key] = partsOf(rest ?? EMPTY, 0).map(String);
  const startedAt = instant(packed, 54);
  return {
    status,
    resultDropped: (flags & FLAGS.resultDropped) !== 0,
    cancelAsked: (flags & FLAGS.cancelAsked) !== 0,
    leaseSpent: (flags & FLAGS.leaseSpent) !== 0,
    priority: packed.readUInt16LE(4),
    attempts: packed.readUInt32LE(6),
    maxAttempts: packed.readUInt32LE(10),
    crashes: packed.readUInt32LE(14),
    deferrals: packed.readUInt32LE(18),
    createdAt: packed.readDoubleLE(30),
    updatedAt: packed.readDoubleLE(38),
    runAt: packed.readDoubleLE(46),
    startedAt,
    finishedAt: instant(packed, 62),
    leaseUntil: instant(packed, 70),
    fence: packed.readDoubleLE(78),
    group: String(group),
    type: type ?? "",
    worker: worker === undefined || worker.length === 0 ? null : String(worker),
    tags: tagsOf(tags ?? ""),
    key: (flags & FLAGS.key) !== 0 ? (key ?? "") : null,
  };
}

function instant(packed: Buffer, at: number): number | null {
  const value = packed.readDoubleLE(at);
  return value < 0 ? null : value;
}

const EMPTY = Buffer.alloc(0);

/** Texts with their lengths in front. */
function partsOf(packed: Buffer, from: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = from; at < packed.length;) {
    const end = at + 2 + packed.readUInt16LE(at);
    parts.push(packed.subarray(at + 2, end));
    at = end;
  }
  return parts;
}

/** Each tag between two zero bytes, so that a script finds a whole one. */
export function tagText(tags: readonly string[]): string {
  return tags.length === 0 ? "" : `\0${tags.join("\0")}\0`;
}

function tagsOf(text: string): string[] {
  return text === "" ? [] : text.slice(1, -1).split("\0");
}

/** 0: none. */
export function categoryNumber(category: string | null | undefined): number {
  return ERROR_CATEGORIES.findIndex((name) => name === category) + 1;
}

export function statusNumber(status: JobStatus): number {
  return STATUSES.indexOf(status) + 1;
}
