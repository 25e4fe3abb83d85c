/** The table of routes. */
import { dashboardRoutes } from "./dashboard.ts";
import { deadLetterRoutes, presetRoutes } from "./dead-letters.ts";
import { enqueueRoutes } from "./enqueue.ts";
import { gateRoutes } from "./gates.ts";
import { jobRoutes } from "./jobs.ts";
import { ledgerRoutes } from "./ledger.ts";
import { lockRoutes } from "./locks.ts";
import { operationRoutes } from "./operations.ts";
import { queueRoutes } from "./queues.ts";
import { checkMounts } from "../server-options.ts";
import type { Mount, Route } from "./route.ts";
import { scheduleRoutes } from "./schedules.ts";
import { systemRoutes } from "./system.ts";
import { tokenRoutes } from "./tokens.ts";
import { workerRoutes } from "./workers.ts";

export function allRoutes(mounts: readonly Mount[] = []): readonly Route[] {
  checkMounts(mounts);
  return [
    ...dashboardRoutes,
    ...systemRoutes,
    ...tokenRoutes,
    ...jobRoutes,
    ...enqueueRoutes,
    ...queueRoutes,
    ...deadLetterRoutes,
    ...presetRoutes,
    ...operationRoutes,
    ...ledgerRoutes,
    ...workerRoutes,
    ...lockRoutes,
    ...scheduleRoutes,
    ...gateRoutes,
    ...mounts.flatMap(({ routes, anonymous }) =>
      routes.map((one) => (anonymous === undefined ? one : { ...one, anonymous })),
    ),
  ];
}
