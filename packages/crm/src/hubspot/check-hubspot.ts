/** Is everything as the sync needs it: token, scopes, limits, properties. Changes nothing. */
import { HubSpotClient, type HubSpotClientOptions } from "./hubspot-client.ts";
import { HubSpotError } from "./hubspot-error.ts";
import { OBJECTS, type HubSpotObject } from "./paths.ts";
import type { Vocabulary } from "./payloads.ts";
import { requiredProperties } from "./required-properties.ts";
import type { ToldLimits } from "../calls.ts";

export interface HubSpotFinding {
  readonly check: "token" | "scopes" | "limits" | "properties";
  readonly level: "ok" | "trouble";
  readonly message: string;
}

export async function checkHubSpot(
  options: Omit<HubSpotClientOptions, "calls"> & Vocabulary = {},
): Promise<HubSpotFinding[]> {
  const { tiers: _tiers, statuses: _statuses, billingProviders, ...rest } = options;
  let limits: ToldLimits | null = null;
  const calls = {
    acquire: () => Promise.resolve(),
    coolDown: () => Promise.resolve(),
    heard: (told: ToldLimits) => void (limits = told),
  };
  const client = new HubSpotClient({ ...rest, calls });
  try {
    const { portalId, timeZone } = await client.account();
    const found: HubSpotFinding[] = [
      { check: "token", level: "ok", message: `portal ${portalId}, time zone ${timeZone}` },
    ];
    found.push(await checkScopes(client));
    found.push(limitsFinding(limits));
    found.push(...(await checkProperties(client, { billingProviders })));
    return found;
  } catch (error) {
    if (!(error instanceof HubSpotError)) throw error;
    return [{ check: "token", level: "trouble", message: error.message }];
  }
}

async function checkScopes(client: HubSpotClient): Promise<HubSpotFinding> {
  const missing = new Set<string>();
  const refused: HubSpotObject[] = [];
  for (const object of OBJECTS) {
    try {
      await client.get(object, "0");
    } catch (error) {
      if (!(error instanceof HubSpotError) || error.status !== 403) throw error;
      refused.push(object);
      for (const scope of error.missingScopes) missing.add(scope);
    }
  }
  if (refused.length === 0) {
    return { check: "scopes", level: "ok", message: `it may read ${OBJECTS.join(", ")}` };
  }
  const which = missing.size > 0 ? `: ${[...missing].join(", ")}` : "";
  return {
    ...{ check: "scopes", level: "trouble" },
    message: `scopes are missing for ${refused.join(", ")}${which}`,
  };
}

function limitsFinding(limits: ToldLimits | null): HubSpotFinding {
  if (limits === null) {
    return { check: "limits", level: "ok", message: "HubSpot does not say; the presets count" };
  }
  const { max, intervalMs, daily, dailyRemaining } = limits;
  const day = daily === null ? "" : `, ${dailyRemaining ?? "?"} of ${daily} left today`;
  const isSpent = dailyRemaining === 0;
  return {
    ...{ check: "limits", level: isSpent ? "trouble" : "ok" },
    message: `${max} calls in ${intervalMs / 1_000} s${day}`,
  };
}

async function checkProperties(
  client: HubSpotClient,
  words: Vocabulary,
): Promise<HubSpotFinding[]> {
  const found: HubSpotFinding[] = [];
  for (const { object, properties } of requiredProperties(words)) {
    try {
      const missing = await client.properties.missing(object, properties);
      const names = missing.map(({ name }) => name).join(", ");
      found.push(
        missing.length === 0
          ? { check: "properties", level: "ok", message: `${object}: all are there` }
          : {
              ...{ check: "properties", level: "trouble" },
              message: `${object}: ${names} missing; holdfast crm ensure makes them`,
            },
      );
    } catch (error) {
      found.push({ check: "properties", level: "trouble", message: (error as Error).message });
    }
  }
  return found;
}
