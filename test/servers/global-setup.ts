/** Before and after a whole test run; see `server-desk.ts`. */
import { startPackage } from "../packaging/install-package.ts";
import { startMongodb, startStandaloneMongodb } from "./mongodb.ts";
import { startPostgres } from "./postgres.ts";
import { startRedisCluster } from "./redis-cluster.ts";
import { startRedis } from "./redis.ts";
import { ServerDesk } from "./server-desk.ts";

const desk = new ServerDesk({
  postgres: startPostgres,
  mongodb: startMongodb,
  "mongodb-standalone": startStandaloneMongodb,
  redis: startRedis,
  "redis-cluster": startRedisCluster,
  package: startPackage,
});

export async function setup(): Promise<void> {
  await desk.open();
}

export async function teardown(): Promise<void> {
  await desk.close();
}
