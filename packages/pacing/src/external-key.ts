/**
 * Keys for another system's idempotency, hashed from the simulation and the index: the same for every attempt of
 * every job that ever stands for this record. UUIDs of version 8, RFC 9562.
 */
import { createHash } from "node:crypto";

export function recordKey(simulation: string, index: number): string {
  return uuidOf("record", simulation, index);
}

export function activityKey(
  simulation: string,
  {
    index,
    type,
    ordinal,
  }: { readonly index: number; readonly type: string; readonly ordinal: number },
): string {
  return uuidOf("activity", simulation, index, type, ordinal);
}

function uuidOf(...words: readonly (string | number)[]): string {
  const digest = createHash("sha256")
    .update(["pacing", ...words].join("\n"))
    .digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20, 32)].join("-");
}
