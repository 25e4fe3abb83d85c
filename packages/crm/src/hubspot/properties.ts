/** Properties of a portal: those that a sync writes must be there before it does. */
import { InvalidOptionError } from "holdfast";
import { HubSpotError } from "./hubspot-error.ts";
import type { HubSpotObject, Paths } from "./paths.ts";
import type { HubSpotRequest } from "./request.ts";

export interface HubSpotProperty {
  readonly name: string;
  readonly label: string;
  readonly type: "string" | "number" | "date" | "datetime" | "bool" | "enumeration";
  readonly fieldType: string;
  readonly groupName: string;
  readonly hasUniqueValue?: boolean;
  readonly options?: readonly { readonly label: string; readonly value: string }[];
}

export interface Ensured {
  readonly object: HubSpotObject;
  readonly property: string;
  readonly state: "there" | "made";
}

interface Asks {
  request(asked: HubSpotRequest): Promise<unknown>;
}

export class PropertyRoom {
  readonly #client: Asks;
  readonly #paths: Paths;

  constructor(client: Asks, paths: Paths) {
    this.#client = client;
    this.#paths = paths;
  }

  async list(object: HubSpotObject, signal?: AbortSignal): Promise<readonly HubSpotProperty[]> {
    const path = this.#paths.properties(object);
    const found = (await this.#client.request({ method: "GET", path, signal })) as {
      readonly results: readonly HubSpotProperty[];
    };
    return found.results;
  }

  /** What a portal lacks of these. Throws where one is there and is not what is needed. */
  async missing(
    object: HubSpotObject,
    wanted: readonly HubSpotProperty[],
    signal?: AbortSignal,
  ): Promise<readonly HubSpotProperty[]> {
    const known = new Map((await this.list(object, signal)).map((one) => [one.name, one]));
    for (const one of wanted) {
      const there = known.get(one.name);
      if (!there) continue;
      const wrong =
        there.type !== one.type
          ? `has the type ${there.type}, not ${one.type}`
          : one.hasUniqueValue === true && there.hasUniqueValue !== true
            ? "is there, but its values are not unique"
            : null;
      if (wrong !== null) {
        throw new InvalidOptionError(
          `the property ${one.name} of ${object} ${wrong}: rename or remove it in HubSpot, then ensure again`,
        );
      }
    }
    return wanted.filter(({ name }) => !known.has(name));
  }

  /** Makes what is not there. May be called again, and by several processes at once. */
  async ensure(
    object: HubSpotObject,
    wanted: readonly HubSpotProperty[],
    signal?: AbortSignal,
  ): Promise<Ensured[]> {
    const missing = await this.missing(object, wanted, signal);
    const ensured: Ensured[] = [];
    for (const property of wanted) {
      const isMade = missing.includes(property) && (await this.#make(object, property, signal));
      ensured.push({ object, property: property.name, state: isMade ? "made" : "there" });
    }
    return ensured;
  }

  /** False: another process was first. */
  async #make(
    object: HubSpotObject,
    property: HubSpotProperty,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const path = this.#paths.properties(object);
    try {
      await this.#client.request({ method: "POST", path, body: property, signal });
      return true;
    } catch (error) {
      if (error instanceof HubSpotError && error.status === 409) return false;
      throw error;
    }
  }
}
