/** The raw loop as a contender: batches as large as Holdfast's, a lease and a settle each, one connection. */
import type { Contender, Session } from "../../contender.ts";
import type { Payload } from "../../payload.ts";
import { RawRedisLoop } from "../../raw/redis.ts";
import { RAW_BATCH_ITEMS } from "../../raw/batch-items.ts";
import { pieces } from "../peer-packages.ts";
import { runLoop } from "../run-loop.ts";
import { describeRedis } from "./facts.ts";

const BATCH = RAW_BATCH_ITEMS.redis;

export const rawRedis: Contender = {
  name: "raw",
  setup: `a hand-written Lua loop, batches of ${BATCH} (bench/raw/redis.ts); keeps finished jobs`,
  missing: () => null,
  async open(place, { keep }) {
    const loop = await RawRedisLoop.open(place);
    const insert = async (payloads: readonly Payload[]): Promise<void> => {
      const texts = payloads.map((payload) => JSON.stringify(payload));
      for (const piece of pieces(texts, BATCH)) await loop.insert(piece);
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
      describe: () => describeRedis(place),
      close: () => loop.close(),
    };
    return session;
  },
};
