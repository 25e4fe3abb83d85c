/** A ready job as `lease` reads it: its place in line, and the part of its body that a handler needs. */
export type ReadyRow = [
  seq: number,
  prio: number,
  attempts: number,
  maxAttempts: number,
  crashes: number,
  fence: number,
  runAt: number | null,
  flags: number,
  settledFence: number,
  id: string,
  type: string,
  createdAt: number,
  /** Null: it is large, and read by itself. */
  payload: string | null,
];

/** Where the payload is in the row. */
export const PAYLOAD = 12;
