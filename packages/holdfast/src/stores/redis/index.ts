export { checkRedis, type RedisCheck } from "./check-redis.ts";
export { redisStore, type RedisStore, type RedisStoreOptions } from "./redis-store.ts";
export type { RedisPlace } from "./open-server.ts";
export type { ClientLike } from "./client-like.ts";
export type { RedisStoreInfo } from "./store-info.ts";
export type { Finding } from "./server-facts.ts";
export type { WaitOptions } from "./server.ts";
