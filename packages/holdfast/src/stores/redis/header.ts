/** A job's header, as the scripts pack it (lua/header.lua): change both together. */
import { ERROR_CATEGORIES, type JobStatus, type KeyLifetime } from "../../core/job.ts";

export const STATUSES: readonly JobStatus[] = [
  "queued",
  "processing",
  "succeeded",
  "dead",
  "cancelled",
];

export const FLAGS = {
  resultDropped: 1,
  cancelAsked: 2,
  leaseSpent: 4,
  key: 128,
  endsKey: 256,
  widePriority: 1024,
} as const;
/** What moves comes first. */
export const MOVING_SIZE = 78;
/** Where in a header everything begins. Behind the texts (group, type, extra) is the worker. */
export const AT = {
  ...{ status: 0, flags: 1, attempts: 4, maxAttempts: 8, crashes: 12, deferrals: 16 },
  ...{ updatedAt: 20, startedAt: 28, finishedAt: 36, leaseUntil: 44, fence: 52, workerSize: 76 },
  ...{ createdAt: 92, runAt: 100, lifetime: 108, priority: 116, texts: 118 },
} as const;

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
  readonly keyLifetime: KeyLifetime | null;
}

export function readHeader(packed: Buffer): Header {
  const flags = packed.readUInt16LE(AT.flags);
  const createdAt = packed.readDoubleLE(AT.createdAt);
  const { group, type, tags, key, end } = readTexts(packed, AT.texts);
  const workerSize = packed.readUInt16LE(AT.workerSize);
  return {
    status: STATUSES[packed.readUInt8(AT.status) - 1] ?? "queued",
    resultDropped: (flags & FLAGS.resultDropped) !== 0,
    cancelAsked: (flags & FLAGS.cancelAsked) !== 0,
    leaseSpent: (flags & FLAGS.leaseSpent) !== 0,
    priority: readPriority(packed, AT.priority, (flags & FLAGS.widePriority) !== 0 ? end : null),
    attempts: packed.readUInt32LE(AT.attempts),
    maxAttempts: packed.readUInt32LE(AT.maxAttempts),
    crashes: packed.readUInt32LE(AT.crashes),
    deferrals: packed.readUInt32LE(AT.deferrals),
    createdAt,
    updatedAt: instant(packed, AT.updatedAt) ?? createdAt,
    runAt: packed.readDoubleLE(AT.runAt),
    startedAt: instant(packed, AT.startedAt),
    finishedAt: instant(packed, AT.finishedAt),
    leaseUntil: instant(packed, AT.leaseUntil),
    fence: packed.readDoubleLE(AT.fence),
    group,
    type,
    worker: workerSize === 0 ? null : packed.toString("utf8", end, end + workerSize),
    tags,
    key: (flags & FLAGS.key) !== 0 ? key : null,
    keyLifetime: (flags & FLAGS.key) !== 0 ? lifetimeIn(packed, flags) : null,
  };
}

/** Of more than sixteen bits the upper ones stand in front of `wideEnd`, at the end of the texts. */
export function readPriority(packed: Buffer, at: number, wideEnd: number | null): number {
  const low = packed.readUInt16LE(at);
  return wideEnd === null ? low : low + 65_536 * packed.readUInt16LE(wideEnd - 2);
}

function lifetimeIn(packed: Buffer, flags: number): KeyLifetime {
  if ((flags & FLAGS.endsKey) !== 0) return "until-finished";
  const ttlMs = instant(packed, AT.lifetime);
  return ttlMs === null ? "kept" : { ttlMs };
}

/** The texts of a header that never change. */
export interface HeaderTexts {
  readonly group: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly key: string;
  /** Where they end. */
  readonly end: number;
}

export function readTexts(packed: Buffer, at: number): HeaderTexts {
  const texts = new Texts(packed, at);
  const group = texts.next();
  const type = texts.next();
  const extra = packed.readUInt16LE(texts.at);
  const end = texts.at + 2 + extra;
  const [tags, key] = extra === 0 ? ["", ""] : extraTexts(new Texts(packed, texts.at + 2));
  return { group, type, tags: tagsOf(tags), key, end };
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
