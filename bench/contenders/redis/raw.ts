/** The raw loop as a contender: batches of 100, a lease and a settle each, one connection. */
import { BULK, CONCURRENCY, type Contender, type Session } from "../../contender.ts";
import type { Payload } from "../../payload.ts";
import { RawRedisLoop } from "../../raw/redis.ts";
import { pieces } from "../peer-packages.ts";
import { runLoop } from "../run-loop.ts";
import { describeRedis } from "./facts.ts";

export const rawRedis: Contender = {
  name: "raw",
  setup: "a hand-written Lua loop, batches of 100 (bench/raw/redis.ts); keeps finished jobs",
  missing: () => null,
  async open(place, { keep }) {
    const loop = await RawRedisLoop.open(place);
    const insert = async (payloads: readonly Payload[]): Promise<void> => {
      const texts = payloads.map((payload) => JSON.stringify(payload));
      for (const piece of pieces(texts, BULK)) await loop.insert(piece);
    };
    const session: Session = {
      enqueue: (payload) => insert([payload]),
      enqueueAll: (payloads) => insert(payloads),
      run: async (handler) =>
        runLoop({
          lease: () => loop.lease(CONCURRENCY),
          handle: ({ payload }) => handler(JSON.parse(payload) as Payload),
          settle: (leases) => loop.settle(leases, { keep }),
        }),
      describe: () => describeRedis(place),
      close: () => loop.close(),
    };
    return session;
  },
};
