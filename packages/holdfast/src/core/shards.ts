/**
 * A queue in several parts: a logical one, over physical ones that are called `<queue>:<shard>`. Which part a key
 * belongs to follows from the key alone (rendezvous hashing): with more parts, keys move to the new ones only.
 */
export const MAX_SHARDS = 256;

export function shardName(queue: string, shard: number): string {
  return `${queue}:${shard}`;
}

/** From 0 to below `shards`, the same in every process. */
export function shardOf(key: string, shards: number): number {
  const hash = hashOf(key);
  let [best, most] = [0, -1];
  for (let shard = 0; shard < shards; shard += 1) {
    const score = mix(hash ^ mix(shard + 1));
    if (score > most) [best, most] = [shard, score];
  }
  return best;
}

/** FNV-1a, by UTF-16 code units. */
function hashOf(text: string): number {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  }
  return mix(bits);
}

/** The finish of MurmurHash3. */
function mix(word: number): number {
  let bits = word | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
