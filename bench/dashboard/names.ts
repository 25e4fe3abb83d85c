/** What the processes of this measurement have to agree on. */
import type { Logger } from "holdfast";

/** The queue in which the groups wait, and where work goes on. */
export const TENANTS = "tenants";
export const TOKEN = "a-token-for-the-dashboard-bench";
export const QUIET: Logger = { debug() {}, info() {}, warn() {}, error() {} };
/** Each is an event when it is enqueued and another when it ends: 200 a second. */
export const JOBS_PER_SECOND = 100;
