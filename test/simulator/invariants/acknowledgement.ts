/**
 * An acknowledgement is true: whoever was told that a job is stored finds it stored, and whoever was
 * told that it surely is not never meets it.
 */
import type { Court, Watcher } from "../watcher.ts";

export function acknowledgement({ book, complain }: Court): Watcher {
  const name = "an acknowledgement is true";
  const storedAs = new Map<string, string>();
  const never = new Set<string>();
  const endingsOf = (jobId: string) => (book.jobs.get(jobId) ?? book.gone.get(jobId))?.endings;
  return {
    inserted(job, result) {
      if (result.outcome !== "added") return;
      const token = tokenOf(job.payload);
      if (token === null) return;
      if (never.has(token)) {
        complain(name, `${token} was stored after its caller heard that it surely was not`, job.id);
      }
      storedAs.set(token, job.id);
    },
    acknowledged({ token }, jobId, status) {
      const own = token === null ? jobId : storedAs.get(token);
      if (status === "added" && own !== jobId) {
        complain(name, `${token} was acknowledged before the store had it`, jobId);
      } else if (!book.jobs.has(jobId) && !book.gone.has(jobId)) {
        complain(name, `${token} was acknowledged as a job nobody has ever seen`, jobId);
      }
      if (token !== null) storedAs.delete(token);
    },
    refused({ token }, certainty) {
      if (certainty === "unknown" || token === null) return;
      const jobId = storedAs.get(token);
      if (jobId !== undefined) {
        complain(name, `${token} is stored, but its caller heard that it surely is not`, jobId);
      }
      never.add(token);
    },
    announced(jobId, ending) {
      const endings = endingsOf(jobId);
      // The worker's own word: it may not have heard yet that somebody had asked for a cancel.
      const isTrue = endings?.has(ending) || (ending === "dead" && endings?.has("cancelled"));
      if (!isTrue) complain(name, `listeners heard ${ending}, which it never was`, jobId);
    },
    waitedFor(jobId, status) {
      const isTrue = status === "pruned" ? book.gone.has(jobId) : endingsOf(jobId)?.has(status);
      if (!isTrue) complain(name, `waitFor answered ${status}, which it never was`, jobId);
    },
  };
}

/** Every payload of a producer carries the token of its enqueue. */
export function tokenOf(payload: string): string | null {
  return /"token":"([^"]+)"/.exec(payload)?.[1] ?? null;
}
