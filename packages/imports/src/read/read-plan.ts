/** What the thread is told: the options of a caller, checked and complete. Plain data, so that it can be sent. */
import type { ReadLimits } from "./sheet.ts";

export interface ReadPlan {
  readonly sheet: string | number | null;
  readonly headerRow: number | null;
  readonly limits: ReadLimits;
  readonly separator: string | null;
  readonly encoding: string | null;
}
