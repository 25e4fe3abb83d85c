/** The raw loop as a contender: batches as large as Holdfast's, a lease and a settle each, one connection. */
import type { Contender, Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { RawPostgresLoop } from "../../raw/postgres.ts";
import { RAW_BATCH_ITEMS } from "../../raw/batch-items.ts";
import { pieces } from "../peer-packages.ts";
import { runLoop } from "../run-loop.ts";
import { describePostgres } from "./facts.ts";

const BATCH = RAW_BATCH_ITEMS.postgres;

export const rawPostgres: Contender = {
  name: "raw",
  setup: `a hand-written loop, batches of ${BATCH}, one connection (bench/raw/postgres.ts); keeps finished jobs`,
  missing: () => null,
  async open(place, { keep }) {
    const loop = await RawPostgresLoop.open(place);
    const insert = async (payloads: readonly Payload[]): Promise<void> => {
      const texts = payloads.map((payload) => JSON.stringify(payload));
      for (const piece of pieces(texts, BATCH)) await loop.insert(JOB_TYPE, piece);
    };
    const session: Session = {
      enqueue: (payload) => insert([payload]),
      enqueueAll: (payloads) => insert(payloads),
      run: async (handler) =>
        runLoop({
          lease: () => loop.lease(BATCH),
          handle: ({ payload }) => handler(JSON.parse(payload) as Payload),
          settle: (leases) => loop.settle(leases, { keep }),
        }),
      describe: () => describePostgres(loop.client),
      close: () => loop.close(),
    };
    return session;
  },
};
