/**
 * The layout of what is in Redis has a number, in `{hf}:m`: `schema`, and beside it `serves`, the oldest layout
 * whose programs still work with it. So a program of the version before can go on beside a newer one, or come
 * back, where the newer one says so; else it refuses in words.
 *
 * 1: until 0.1, without a number. 2: dead and cancelled jobs, those that are tried again, and entries of a kind are
 * listed a second time, and held and full lines are outside the ring.
 */
import { StoreOpenError } from "../../core/errors.ts";
import { rootsOf } from "./ledger.ts";
import type { QueueBook } from "./queue-book.ts";
import { list, numberOrNull, text } from "./reply.ts";
import type { Server } from "./server.ts";

const SCHEMA = 2;
/** Programs of layout 1 would not list what this one looks for. */
const OLDEST_SERVED = 2;

export async function openSchema(server: Server, queues: QueueBook): Promise<void> {
  const head = `${server.keys.home}m`;
  const kept = list(await server.command("HMGET", head, "schema", "serves"));
  const [schema, serves] = kept.map(numberOrNull);
  if (schema === SCHEMA) return;
  if (schema != null && schema > SCHEMA) {
    if ((serves ?? schema) <= SCHEMA) return;
    throw new StoreOpenError(
      `the jobs in Redis were written by a newer Holdfast (layout ${schema}, this one knows ${SCHEMA}): upgrade this program, or give it another prefix`,
    );
  }
  await upgrade(server, queues);
  await server.command("HSET", head, "schema", SCHEMA, "serves", OLDEST_SERVED);
}

/** In steps, while workers go on; two processes may do it at once. */
async function upgrade(server: Server, queues: QueueBook): Promise<void> {
  for (const queue of await queues.all()) {
    let from = "-inf";
    while (from !== "") from = text(await server.onQueues("upgrade", [queue], [from]));
  }
  for (const root of await rootsOf({ server, queues })) {
    let cursor = "0";
    do cursor = text(await server.onRoot("ledger-upgrade", root, [cursor]));
    while (cursor !== "0");
  }
}
