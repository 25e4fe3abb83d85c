/** The raw loop as a contender: batches as large as Holdfast's, a lease transaction and a settle transaction each. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Contender, Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { RawSqliteLoop } from "../../raw/sqlite.ts";
import { RAW_BATCH_ITEMS } from "../../raw/batch-items.ts";
import { pieces } from "../peer-packages.ts";
import { describeSqlite } from "./facts.ts";

const BATCH = RAW_BATCH_ITEMS.sqlite;

export const rawSqlite: Contender = {
  name: "raw",
  setup: `a hand-written loop on node:sqlite, batches of ${BATCH} (bench/raw/sqlite.ts); keeps finished jobs`,
  missing: () => null,
  async open(place, { keep }) {
    const loop = new RawSqliteLoop(place);
    const insert = (payloads: readonly Payload[]): void => {
      const texts = payloads.map((payload) => JSON.stringify(payload));
      for (const piece of pieces(texts, BATCH)) loop.insert(JOB_TYPE, piece);
    };
    const session: Session = {
      enqueue: async (payload) => insert([payload]),
      enqueueAll: async (payloads) => insert(payloads),
      async run(handler) {
        let isStopped = false;
        const ended = (async () => {
          while (!isStopped) {
            const leases = loop.lease(BATCH);
            for (const { payload } of leases) handler(JSON.parse(payload) as Payload);
            loop.settle(leases, { keep });
            // As any loop inside a service must: others get their turn.
            await nextTurn();
          }
        })();
        return async () => {
          isStopped = true;
          await ended;
        };
      },
      describe: async () =>
        describeSqlite(
          "node:sqlite",
          (sql) => Object.values(loop.database.prepare(sql).get() ?? {})[0],
        ),
      close: async () => loop.close(),
    };
    return session;
  },
};
