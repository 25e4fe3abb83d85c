/**
 * Leaves out of a list whatever its failure does not need: halves first, then quarters, at last single
 * items, from the end to the beginning. fast-check also leaves out, but polishes each item on the way;
 * where a try costs the opening of stores, that takes too long for a list of a hundred.
 */
export async function leaveOut<T>(
  items: readonly T[],
  stillFails: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = items;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = left.length - size; at > -size; at -= size) {
      const shorter = [...left.slice(0, Math.max(0, at)), ...left.slice(at + size)];
      if (shorter.length > 0 && (await stillFails(shorter))) left = shorter;
    }
  }
  return left;
}
