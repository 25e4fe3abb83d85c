/**
 * Until when a job is worth running. It travels in the job's metadata under a word of ours, because no store has
 * to know of it: a job that is past it is cancelled when its turn comes. A time from the enqueue on stays a
 * duration until then, and counts from when the store took the job.
 */
import { decodeJson } from "./json-text.ts";

/** Reserved in `meta`. */
export const META_WORD = "holdfast";

type Meta = Readonly<Record<string, unknown>>;
interface Expiry {
  readonly expiresAt?: number;
  readonly expiresAfterMs?: number;
}

/** What is stored as metadata; undefined: nothing. */
export function withExpiry(
  meta: Meta | undefined,
  options: { readonly expiresAt?: Date | undefined; readonly expiresAfterMs?: number | undefined },
): Meta | undefined {
  const { expiresAt, expiresAfterMs } = options;
  if (expiresAt === undefined && expiresAfterMs === undefined) return meta;
  const expiry: Expiry = {
    ...(expiresAt !== undefined && { expiresAt: expiresAt.getTime() }),
    ...(expiresAfterMs !== undefined && { expiresAfterMs }),
  };
  return { ...meta, [META_WORD]: expiry };
}

/** By the store's clock; null: it never expires. */
export function expiryOf(job: {
  readonly meta: string | null;
  readonly createdAt: number;
}): number | null {
  // Most jobs have none: nothing is parsed for them.
  if (job.meta === null || !job.meta.includes(`"${META_WORD}"`)) return null;
  const ours = (decodeJson(job.meta) as Record<string, Expiry | undefined>)[META_WORD];
  const { expiresAt, expiresAfterMs } = Object(ours) as Expiry;
  if (typeof expiresAt === "number") return expiresAt;
  return typeof expiresAfterMs === "number" ? job.createdAt + expiresAfterMs : null;
}

/** The caller's own; null: none. */
export function ownMeta(meta: string | null): Record<string, unknown> | null {
  if (meta === null) return null;
  const { [META_WORD]: ours, ...own } = decodeJson(meta) as Record<string, unknown>;
  return ours !== undefined && Object.keys(own).length === 0 ? null : own;
}
