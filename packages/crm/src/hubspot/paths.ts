/**
 * The paths of HubSpot's API, in one place: versions are dates, and a new one changes one constant. The path of
 * associations is that of the version before with the date in its place; it was not tried on a live portal.
 */
import { InvalidOptionError } from "holdfast";

export const HUBSPOT_URL = "https://api.hubapi.com";
export const HUBSPOT_VERSION = "2026-09";

export const OBJECTS = [
  ...(["contacts", "companies", "deals", "notes", "calls", "tasks", "tickets"] as const),
] as const;
export type HubSpotObject = (typeof OBJECTS)[number];

export class Paths {
  readonly #version: string;

  constructor(version: string = HUBSPOT_VERSION) {
    this.#version = version;
  }

  objects(object: HubSpotObject, ...rest: readonly string[]): string {
    return ["/crm/objects", this.#version, object, ...rest.map(step)].join("/");
  }

  batch(object: HubSpotObject, word: "upsert" | "read" | "update" | "archive"): string {
    return this.objects(object, "batch", word);
  }

  search(object: HubSpotObject): string {
    return this.objects(object, "search");
  }

  association(from: HubSpotObject, fromId: string, to: HubSpotObject, toId: string): string {
    return this.objects(from, fromId, "associations", "default", to, toId);
  }

  associations(from: HubSpotObject, fromId: string, to: HubSpotObject): string {
    return this.objects(from, fromId, "associations", to);
  }

  properties(object: HubSpotObject, ...rest: readonly string[]): string {
    return ["/crm/properties", this.#version, object, ...rest.map(step)].join("/");
  }

  account(): string {
    return `/account-info/${this.#version}/details`;
  }
}

/** Dots are left as they are by the encoding, and an address takes them for a way up: to another call. */
function step(id: string): string {
  if (typeof id === "string" && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id);
  throw new InvalidOptionError("an id of HubSpot is a text, and no dots alone");
}
