/** What SQL stores count dead jobs by beside their queue, and the column that has it. */
import type { DeadKey } from "../../core/store.ts";

export const DEAD_COLUMNS = {
  fingerprint: "fingerprint",
  category: "category",
  type: "type",
  group: "grp",
} as const;

export type DeadWord = keyof typeof DEAD_COLUMNS;
export const DEAD_WORDS = Object.keys(DEAD_COLUMNS) as DeadWord[];

/** A key that a job does not have is kept as '': fingerprints and categories are never empty, groups may be. */
const MAY_LACK: ReadonlySet<DeadKey> = new Set<DeadKey>(["fingerprint", "category"]);

export function deadKey(by: DeadKey, kept: string): string | null {
  return kept === "" && MAY_LACK.has(by) ? null : kept;
}
