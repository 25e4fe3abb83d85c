/** What is wrong, and what to do about it: with the store, and with the fleet. */
export { checkFleet, type CheckFleetOptions } from "./check-fleet.ts";
export { checkStore, type CheckStoreOptions } from "./check-store.ts";
export type { Finding, SchemaState, StoreCheck } from "../core/store-check.ts";
