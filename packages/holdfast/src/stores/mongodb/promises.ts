/**
 * Promises to holders whose job is locked: their transaction is over as far as they know, and the server
 * still has it open, because their word did not arrive. Such a job cannot be extended, and to say "kept" would
 * be untrue once the server ends the transaction: a reaping may come before the next renewal. So what is
 * promised is noted beside the job, and a reaping asks for the notes of the leases that it found expired.
 *
 * They are kept among the disowned workers, which a chore clears by the same field. They are few.
 */
import type { LeaseRef } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { leaseName } from "./disown.ts";
import type { PromiseDocument } from "./schema.ts";

export async function promise(
  db: Database,
  leases: readonly Pick<LeaseRef, "id" | "fence">[],
  until: number,
): Promise<void> {
  if (leases.length === 0) return;
  const notes = leases.map(({ id, fence }) => {
    const filter = { _id: noteOf(leaseName({ _id: id, fence })) };
    return { updateOne: { filter, update: { $max: { forgetAt: until } }, upsert: true } };
  });
  await db.bulk("disowned", notes);
}

/** Those of these leases, by name, that were promised to last beyond now. */
export async function promisedAmong(
  db: Database,
  names: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  const filter = { _id: { $in: names.map(noteOf) }, forgetAt: { $gt: now } };
  const found = await db.find<PromiseDocument>("disowned", filter);
  const noted = new Set(found.map(({ _id }) => _id));
  return new Set(names.filter((name) => noted.has(noteOf(name))));
}

/** Nothing that a worker is called. */
function noteOf(name: string): string {
  return `promised ${name}`;
}
