/**
 * What people said of a fault, which is a fingerprint: it is resolved, and shown again only if it comes back;
 * or it is ignored, until it comes too often.
 */
import { putRecord } from "../../core/put-record.ts";
import type { ExtensionHost } from "../../engine/extension.ts";

const FAULTS = "holdfast/faults/";
/** What was said of a fault is forgotten after so long. */
const KEPT_MS = 90 * 86_400_000;

export type FaultMark =
  | {
      readonly state: "resolved";
      readonly at: number;
      readonly by: string | null;
      readonly reason: string | null;
      /** What ran when it was resolved: if it comes back, it comes back since then. */
      readonly appVersion: string | null;
    }
  | {
      readonly state: "ignored";
      readonly at: number;
      readonly by: string | null;
      readonly reason: string | null;
      readonly untilPerHour: number | null;
    };

export async function markFault(
  { records }: Pick<ExtensionHost, "records">,
  fingerprint: string,
  mark: FaultMark | null,
): Promise<void> {
  const value = mark === null ? null : JSON.stringify(mark);
  await putRecord(records, FAULTS + fingerprint, { value, ttlMs: KEPT_MS });
}

/** In the order of the fingerprints. */
export async function readMarks(
  { records }: Pick<ExtensionHost, "records">,
  fingerprints: readonly string[],
): Promise<(FaultMark | null)[]> {
  if (fingerprints.length === 0) return [];
  const found = await records.read(fingerprints.map((fingerprint) => FAULTS + fingerprint));
  return found.map((record) => (record ? (JSON.parse(record.value) as FaultMark) : null));
}
