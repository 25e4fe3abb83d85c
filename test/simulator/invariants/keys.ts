/**
 * One live job per key, and one job per id: an insert is answered exactly as the facts say, whatever
 * was repeated, reordered or lost before it.
 */
import { expectedInsert } from "../facts/apply-insert.ts";
import type { Court, Watcher } from "../watcher.ts";

export function keys({ book, complain }: Court): Watcher {
  return {
    inserted(job, result, { evenIfFull }) {
      const expected = expectedInsert(book, job, evenIfFull);
      const [want, got] = [JSON.stringify(expected), JSON.stringify(result)];
      if (want === got) return;
      const name = isAboutRoom(expected, result) ? "caps are respected" : "one live job per key";
      complain(name, `insert answered ${got}, the facts say ${want}`, job.id);
    },
  };
}

function isAboutRoom(...results: readonly { readonly outcome: string }[]): boolean {
  return results.some(({ outcome }) => outcome === "full");
}
