/** What routes share: one of each in a server. */
import type { Holdfast, Logger } from "holdfast";
import type { Authenticator } from "./auth/authenticator.ts";
import type { AuditDesk } from "./audit-desk.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { OverviewReader } from "./overview.ts";
import type { Route } from "./routes/route.ts";
import type { ServerOptions } from "./server-options.ts";
import type { RecentCounts } from "./http/recent-counts.ts";
import type { SharedReads } from "./shared-reads.ts";

export interface Services {
  readonly hf: Holdfast;
  readonly options: ServerOptions;
  readonly logger: Logger;
  readonly auth: Authenticator;
  readonly audit: AuditDesk;
  readonly overview: OverviewReader;
  readonly hub: EventHub;
  readonly metrics: Metrics;
  /** Read once for all who look at the same. */
  readonly shared: SharedReads;
  /** Plans and starts of operations, by caller. */
  readonly plans: RecentCounts;
  readonly routes: readonly Route[];
  readonly basePath: string;
  readonly now: () => number;
}
