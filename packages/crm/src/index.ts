/** Outbound sync: a CRM kept in step with what the application says, politely. */
export {
  defineSync,
  type LimitOptions,
  type SyncDefinition,
  type SyncOptions,
} from "./sync/define-sync.ts";
export type { Sync, SyncEnqueueOptions } from "./sync/sync.ts";
export type { CycleOptions } from "./sync/cycle-options.ts";
export type { SyncFailure, SyncMonitor, SyncStats } from "./sync/monitor.ts";
export type { OperationContext, OperationHandler, SyncOperation } from "./sync/operation.ts";
export { staffAlert, type StaffAlert } from "./sync/staff-alert.ts";
export type { Calls, ToldLimits } from "./calls.ts";
export {
  hubspotSync,
  ensureHubSpot,
  HUBSPOT_LIMITS,
  HUBSPOT_SEARCH,
  SCOPES_URL,
  type EnsuredHubSpot,
  type HubSpotPlan,
  type HubSpotSyncOptions,
} from "./hubspot/hubspot-sync.ts";
export type { HubSpotOperations, HubSpotPayloads } from "./hubspot/hubspot-operations.ts";
export { hubspotViews } from "./hubspot/hubspot-views.ts";
export { checkHubSpot, type HubSpotFinding } from "./hubspot/check-hubspot.ts";
export {
  HubSpotClient,
  type HubSpotAccount,
  type HubSpotClientOptions,
  type HubSpotRecord,
  type SearchQuery,
} from "./hubspot/hubspot-client.ts";
export { classifyHubSpot, HubSpotError, type HubSpotComplaint } from "./hubspot/hubspot-error.ts";
export { EXTERNAL_ID } from "./hubspot/required-properties.ts";
export type { HubSpotObject } from "./hubspot/paths.ts";
export type { Ensured, HubSpotProperty } from "./hubspot/properties.ts";
export type { Upsert, UpsertResult } from "./hubspot/upsert.ts";
export type { Vocabulary } from "./hubspot/payloads.ts";
export {
  restSync,
  type RestOperations,
  type RestPayloads,
  type RestSyncOptions,
  type RestTarget,
} from "./rest/rest-sync.ts";
export { RestClient, RestError, type RestClientOptions } from "./rest/rest-client.ts";
