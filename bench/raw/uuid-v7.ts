/** Ids as the raw loops make them. */
import { randomFillSync } from "node:crypto";

const CHANCE = new Uint8Array(10 * 512);
let used = CHANCE.length;

/** 16 bytes. Chance is drawn for 512 ids at once: a draw for each would cost as much as its index. */
export function uuidV7(ms: number): Uint8Array {
  if (used === CHANCE.length) {
    randomFillSync(CHANCE);
    used = 0;
  }
  const id = new Uint8Array(16);
  new DataView(id.buffer).setBigUint64(0, BigInt(ms) << 16n);
  id.set(CHANCE.subarray(used, used + 10), 6);
  used += 10;
  id[6] = ((id[6] as number) & 0x0f) | 0x70;
  id[8] = ((id[8] as number) & 0x3f) | 0x80;
  return id;
}

/** As text: 32 hexadecimal digits, which PostgreSQL takes for a uuid. */
export function uuidV7Text(ms: number): string {
  return Buffer.from(uuidV7(ms)).toString("hex");
}
