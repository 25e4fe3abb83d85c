/** Spawned jobs and ledger entries exist exactly with their parent's outcome: all or none. */
import { isHolder } from "../facts/holder.ts";
import { attemptKey, type Court, type Watcher } from "../watcher.ts";

export function spawnedWithParent({ book, complain }: Court): Watcher {
  const name = "spawned jobs exist exactly with their parent's success";
  /** What handlers were promised, by attempt. */
  const promised = new Map<string, Set<string>>();
  const parentOf = new Map<string, string>();
  return {
    spawned(run, childId) {
      const key = attemptKey(run);
      const known = promised.get(key);
      if (known) known.add(childId);
      else promised.set(key, new Set([childId]));
      parentOf.set(childId, run.jobId);
      if (promised.size > 2_000) promised.delete(promised.keys().next().value!);
      if (parentOf.size > 20_000) parentOf.delete(parentOf.keys().next().value!);
    },
    settled(settlement, result) {
      const { id, fence, outcome, spawn = [] } = settlement;
      if (result === "lost" || !isHolder(book.jobs.get(id), fence)) return;
      if (outcome.kind !== "succeed") {
        if (spawn.length > 0) complain(name, `${outcome.kind} carries spawned jobs`, id);
        return;
      }
      const wanted = promised.get(attemptKey({ jobId: id, fence })) ?? [];
      const sent = new Set(spawn.map((child) => child.id));
      const missing = [...wanted].filter((child) => !sent.has(child));
      if (missing.length > 0) {
        complain(name, `${missing.length} jobs its handler had spawned were left out`, id);
      }
    },
    leased({ id }) {
      const parent = parentOf.get(id);
      if (parent === undefined || book.jobs.has(id)) return;
      complain(name, `a job is leased whose parent's success did not store it`, id);
    },
    looked(id, found) {
      if (!parentOf.has(id)) return;
      const isThere = typeof found === "object" && found !== null;
      if (isThere && !book.jobs.has(id)) {
        complain(name, "a job is there whose parent's success did not store it", id);
      } else if (!isThere && book.jobs.has(id)) {
        complain(name, "a job is missing whose parent's success stored it", id);
      }
    },
  };
}

export function entriesWithOutcome({ book, complain }: Court): Watcher {
  const name = "ledger entries exist exactly with their outcome";
  return {
    entriesLooked(asked, found) {
      for (const id of asked) {
        const [isThere, shouldBe] = [found.has(id), book.entries.has(id)];
        if (isThere === shouldBe) continue;
        const jobId = id.split("/")[1];
        complain(name, `entry ${id} ${isThere ? "is there too early" : "is missing"}`, jobId);
      }
    },
  };
}
