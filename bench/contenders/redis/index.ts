import type { Contender } from "../../contender.ts";
import { type AnyStore, holdfastOn } from "../holdfast.ts";
import { beeQueue } from "./bee-queue.ts";
import { bullmqRedis } from "./bullmq.ts";
import { rawRedis } from "./raw.ts";

/** What is used of the store's module. */
interface RedisDoor {
  redisStore(options: { readonly url: string }): AnyStore;
}

const holdfastRedis = holdfastOn<RedisDoor>("redis", ({ redisStore }, place) =>
  redisStore({ url: place }),
);

export const CONTENDERS: readonly Contender[] = [rawRedis, bullmqRedis, beeQueue, holdfastRedis];
