/**
 * A store that keeps its jobs in memory fills up without a sound, until producers are refused. So every
 * process that works says now and then how full it is, and warns while there is time to act.
 */
import type { StoreInfo } from "../core/store.ts";
import type { Logger } from "./logger.ts";

const NEARLY_FULL = 0.8;

export function reportMemory(info: StoreInfo, logger: Logger): void {
  const { name, usedMemoryBytes: used, maxMemoryBytes: max } = info;
  if (used == null) return;
  const details = { usedMemoryBytes: used, maxMemoryBytes: max ?? null };
  if (max == null || max === 0) {
    logger.info(`${name} uses ${megabytes(used)} of memory, without a bound`, details);
    return;
  }
  const fill = `${name} uses ${megabytes(used)} of ${megabytes(max)} of memory`;
  if (used < NEARLY_FULL * max) logger.info(fill, details);
  else {
    logger.warn(
      `${fill}: raise maxmemory, keep finished jobs for less long (retention), or add workers`,
      details,
    );
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`;
}
