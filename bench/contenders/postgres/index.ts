import type * as postgresDoor from "../../../packages/holdfast/src/stores/postgres/index.ts";
import type { Contender } from "../../contender.ts";
import { holdfastOn } from "../holdfast.ts";
import { bullmqPostgres } from "./bullmq.ts";
import { graphileWorker, graphileWorkerTuned } from "./graphile-worker.ts";
import { pgBoss, pgBossBatches } from "./pg-boss.ts";
import { rawPostgres } from "./raw.ts";

const holdfastPostgres = holdfastOn<typeof postgresDoor>("postgres", ({ postgresStore }, place) =>
  postgresStore({ url: place }),
);

export const CONTENDERS: readonly Contender[] = [
  rawPostgres,
  graphileWorker,
  graphileWorkerTuned,
  pgBoss,
  pgBossBatches,
  bullmqPostgres,
  holdfastPostgres,
];
