/** A strict local HubSpot over real HTTP: for our tests, and for yours. */
export {
  hubspotDouble,
  HubSpotDouble,
  type DoubleOptions,
  type SeenRequest,
} from "./hubspot-double.ts";
export type { Fault, Faults } from "./faults.ts";
export type { Portal, PortalObject } from "./portal.ts";
export type { ObjectType, PropertyDefinition } from "./portal-properties.ts";
export type { RateLimits } from "./rate-windows.ts";
