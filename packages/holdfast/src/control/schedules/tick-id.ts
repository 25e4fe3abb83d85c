/**
 * The id of a tick's job follows from schedule and tick, so that a tick which is inserted twice is one job. It
 * begins with the tick's time, as every id begins with its own: new rows stay together.
 */
import { createHash } from "node:crypto";
import { uuidV7 } from "../../core/uuid.ts";

export function tickJobId(schedule: string, tick: number): string {
  return uuidV7(tick, createHash("sha256").update(`${schedule}\n${tick}`).digest());
}
