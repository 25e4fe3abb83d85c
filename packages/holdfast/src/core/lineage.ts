/**
 * Where a job comes from, and who moved it last. No store has to know: the parent travels in the metadata under a
 * word of ours, a schedule writes its name and tick beside it, and the mark of an operation is part of `by`.
 */
import { META_WORD } from "./expiry.ts";
import type { NewJob, StoredJob } from "./job.ts";
import { decodeJson } from "./json-text.ts";

/** Of every job that a schedule makes, before its name. */
export const SCHEDULE_TAG = "schedule:";

export interface Lineage {
  /** The job whose handler spawned it; null: it was enqueued. */
  readonly spawnedBy: string | null;
  /** The schedule whose tick it is. */
  readonly schedule: { readonly name: string; readonly tick: Date } | null;
  /** Who retried or cancelled it last, and in which operation. Not carried to another store by a move. */
  readonly changedBy: { readonly by: string; readonly operation: string | null } | null;
}

export function withParent(job: NewJob, parent: string): NewJob {
  const meta = job.meta === null ? {} : (decodeJson(job.meta) as Record<string, unknown>);
  const ours = { ...(meta[META_WORD] as object | undefined), parent };
  return { ...job, meta: JSON.stringify({ ...meta, [META_WORD]: ours }) };
}

/** What an operation writes as `by`, so that a repeated step finds what it did, and people find the operation. */
export function operationMark({ id, by }: { readonly id: string; readonly by: string | null }) {
  return `${by ?? "an operator"} (operation ${id})`;
}

const MARK = /^(.*) \(operation ([0-9a-f-]{36})\)$/s;

export function lineageOf({ meta, tags, by }: Pick<StoredJob, "meta" | "tags" | "by">): Lineage {
  const about = (meta === null ? {} : decodeJson(meta)) as Readonly<Record<string, unknown>>;
  const { parent } = Object(about[META_WORD]) as { readonly parent?: unknown };
  const [, who, operation] = MARK.exec(by ?? "") ?? [];
  return {
    spawnedBy: typeof parent === "string" ? parent : null,
    schedule: scheduleOf(about, tags),
    changedBy: by === null ? null : { by: who ?? by, operation: operation ?? null },
  };
}

/** A caller may have words of these names, too: the tag is what a schedule adds. */
function scheduleOf(
  { schedule: name, tick }: Readonly<Record<string, unknown>>,
  tags: readonly string[],
): Lineage["schedule"] {
  if (typeof name !== "string" || typeof tick !== "string") return null;
  const at = new Date(tick);
  if (!tags.includes(SCHEDULE_TAG + name) || Number.isNaN(at.getTime())) return null;
  return { name, tick: at };
}
