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
/** Where the numbers are that never change, and the texts behind them. */
const AT = { createdAt: 92, runAt: 100, priority: 116, texts: 118 } as const;

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
  const flags = packed.readUInt16LE(1);
  const createdAt = packed.readDoubleLE(AT.createdAt);
  const texts = new Texts(packed, AT.texts);
  const group = texts.next();
  const type = texts.next();
  const extra = packed.readUInt16LE(texts.at);
  const extraEnd = texts.at + 2 + extra;
  const [tags, key] = extra === 0 ? ["", ""] : extraTexts(new Texts(packed, texts.at + 2));
  const workerSize = packed.readUInt16LE(76);
  return {
    status: STATUSES[packed.readUInt8(0) - 1] ?? "queued",
    resultDropped: (flags & FLAGS.resultDropped) !== 0,
    cancelAsked: (flags & FLAGS.cancelAsked) !== 0,
    leaseSpent: (flags & FLAGS.leaseSpent) !== 0,
    priority: packed.readUInt16LE(AT.priority),
    attempts: packed.readUInt32LE(4),
    maxAttempts: packed.readUInt32LE(8),
    crashes: packed.readUInt32LE(12),
    deferrals: packed.readUInt32LE(16),
    createdAt,
    updatedAt: instant(packed, 20) ?? createdAt,
    runAt: packed.readDoubleLE(AT.runAt),
    startedAt: instant(packed, 28),
    finishedAt: instant(packed, 36),
    leaseUntil: instant(packed, 44),
    fence: packed.readDoubleLE(52),
    group,
    type,
    worker: workerSize === 0 ? null : packed.toString("utf8", extraEnd, extraEnd + workerSize),
    tags: tagsOf(tags),
    key: (flags & FLAGS.key) !== 0 ? key : null,
  };
}

function instant(packed: Buffer, at: number): number | null {
  const value = packed.readDoubleLE(at);
  return value < 0 ? null : value;
}

/** Texts with their lengths in front, one after another. */
class Texts {
  at: number;
  readonly #packed: Buffer;

  constructor(packed: Buffer, at: number) {
    this.#packed = packed;
    this.at = at;
  }

  next(): string {
    const from = this.at + 2;
    this.at = from + this.#packed.readUInt16LE(from - 2);
    return from === this.at ? "" : this.#packed.toString("utf8", from, this.at);
  }
}

function extraTexts(texts: Texts): [tags: string, key: string] {
  return [texts.next(), texts.next()];
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
