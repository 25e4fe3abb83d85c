/**
 * Disowning, a call for each queue: the leases of a queue and what is remembered of a worker are beside it,
 * where `reap` finds both. Many leases are looked at in steps, so that no script takes long.
 */
import type { DisownRequest, LeaseRef } from "../../core/store.ts";
import { flag } from "./args.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { InsertHow } from "./insert.ts";
import { list, number, text } from "./reply.ts";

/** What one call takes of what a worker knows: a script cannot pass on more than 8,000 parts at a time. */
const MOST_KNOWN = 2_000;
const NOWHERE_YET = "";
const BEGINNING = "0";

export async function disown(
  how: InsertHow,
  { worker, queues, except }: DisownRequest,
): Promise<number> {
  let count = 0;
  await eachAtOnce([...new Set(queues)], async (queue) => {
    const known = except.filter((ref) => ref.queue === queue);
    const own = await disownIn(how, { worker, queue, known });
    count += own;
  });
  return count;
}

async function disownIn(
  { server, touched }: InsertHow,
  {
    worker,
    queue,
    known,
  }: { readonly worker: string; readonly queue: string; readonly known: readonly LeaseRef[] },
): Promise<number> {
  let count = 0;
  let from = 0;
  let cursor = NOWHERE_YET;
  do {
    const part = known.slice(from, from + MOST_KNOWN);
    const isNew = from === 0 && cursor === NOWHERE_YET;
    from += part.length;
    // Nothing is taken back before all is written that the worker knows.
    if (from === known.length && cursor === NOWHERE_YET) cursor = BEGINNING;
    const reply = list(
      await server.onQueues(
        "disown",
        [queue],
        [...[worker, flag(isNew), cursor], ...part.map(({ id, fence }) => `${id}:${fence}`)],
      ),
    );
    touched.wake(reply[0], [queue]);
    cursor = text(reply[1]);
    count += number(reply[2]);
    touched.finished.push(...list(reply[3]).map(text));
  } while (cursor !== BEGINNING);
  return count;
}
