/**
 * The endpoints of the five systems that Holdfast grew from, in their own words, shapes and statuses, so that
 * their users' scripts go on:
 *
 *     createServer(hf, { mounts: [classic({ queue: process.env.WORKER_QUEUE_NAME })] })
 */
import { InvalidOptionError } from "holdfast";
import { isRole, type Role } from "../auth/caller.ts";
import { refuseUnknown } from "../server-options.ts";
import type { Mount } from "../routes/route.ts";
import { adminRoutes } from "./admin-routes.ts";
import { monitorRoutes } from "./monitor-routes.ts";
import { queueRoutes } from "./queue-routes.ts";

export interface ClassicOptions {
  /** What `WORKER_QUEUE_NAME` says: where types without a contract go, and what health is about. */
  readonly queue?: string | undefined;
  /** Callers without a token from this machine itself get this role. Default: none do. */
  readonly anonymous?: Role | undefined;
  /** What `JOB_DLQ_RETENTION_DAYS` says. Default 14. */
  readonly retentionDays?: number | undefined;
  /** What `QUEUE_RESILIENT_MODE` says. Default false. */
  readonly resilientMode?: boolean | undefined;
}

export function classic(options: ClassicOptions = {}): Mount {
  refuseUnknown("classic", options, ["queue", "anonymous", "retentionDays", "resilientMode"]);
  const { anonymous } = options;
  if (anonymous !== undefined && !isRole(anonymous)) {
    throw new InvalidOptionError("anonymous is viewer, operator or admin");
  }
  return {
    name: "classic",
    routes: [...adminRoutes(options), ...queueRoutes(options), ...monitorRoutes()],
    anonymous,
  };
}
