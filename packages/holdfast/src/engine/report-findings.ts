/**
 * What a store has found wrong with its server when it was opened: that it deletes jobs when its memory is
 * full, that it keeps nothing on disk. A store refuses only what cannot work at all, so people must hear of
 * the rest, and not find out when jobs are gone.
 */
import type { StoreInfo } from "../core/store.ts";
import type { Logger } from "./logger.ts";

export function reportFindings(info: StoreInfo, logger: Logger): void {
  const { findings } = info as { readonly findings?: unknown };
  if (!Array.isArray(findings)) return;
  for (const finding of findings as readonly { level?: unknown; message?: unknown }[]) {
    if (finding.level === "trouble") logger.warn(`${info.version}: ${String(finding.message)}`);
  }
}
