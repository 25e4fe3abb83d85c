/** HubSpot kept in step: system 4's operations on a sync, with HubSpot's limits as its presets. */
import type { RateOptions } from "holdfast";
import { checkWords } from "../check-words.ts";
import { defineSync, type SyncDefinition, type SyncOptions } from "../sync/define-sync.ts";
import { ON_ITS_WAY_MS, ratesOf } from "../sync/sync-gates.ts";
import { HubSpotClient, type HubSpotClientOptions } from "./hubspot-client.ts";
import { classifyHubSpot } from "./hubspot-error.ts";
import {
  hubspotOperations,
  type HubSpotOperations,
  type HubSpotPayloads,
} from "./hubspot-operations.ts";
import type { Vocabulary } from "./payloads.ts";
import type { Ensured } from "./properties.ts";
import { requiredProperties } from "./required-properties.ts";

/** What an account may do: calls in ten seconds, calls a day, searches a second. */
export const HUBSPOT_LIMITS = {
  free: { max: 100, intervalMs: 10_000, daily: 250_000 },
  professional: { max: 190, intervalMs: 10_000, daily: 625_000 },
  enterprise: { max: 190, intervalMs: 10_000, daily: 1_000_000 },
} as const;
export type HubSpotPlan = keyof typeof HUBSPOT_LIMITS;

/** Five a second, of all apps of an account together. */
export const HUBSPOT_SEARCH: RateOptions = { limit: 4, perMs: 1_000 + ON_ITS_WAY_MS, burst: 1 };
export const SCOPES_URL = "https://app.hubspot.com/private-apps";

type Shared = Partial<
  Omit<SyncOptions<HubSpotClient, never>, "operations" | "client" | "classify" | "ensure">
>;

export interface HubSpotSyncOptions
  extends Shared, Vocabulary, Omit<HubSpotClientOptions, "calls" | "retry"> {
  /** Whose limits to start with; its headers say more. Default `free`. */
  readonly plan?: HubSpotPlan | undefined;
  /** Tries in one call after a 429. Default: 5, from 1 s to 30 s. */
  readonly retryInCall?: HubSpotClientOptions["retry"];
}

const CLIENT = ["token", "baseUrl", "version", "timeoutMs", "timeZone"];
const SYNC = [
  ...["name", "queue", "enable", "retry", "limits", "onAuthError", "onPause", "scopesUrl"],
  ...["keepDeadMs", "cycles"],
];
const WORDS = ["tiers", "statuses", "billingProviders", "externalIds"];

export function hubspotSync(options: HubSpotSyncOptions = {}): SyncDefinition<HubSpotOperations> {
  const known = [...CLIENT, ...SYNC, ...WORDS, "plan", "retryInCall"];
  checkWords("hubspotSync", options, known);
  const { plan = "free", retryInCall: retry, limits = {} } = options;
  const calls = HUBSPOT_LIMITS[plan];
  const given = (words: readonly string[]) =>
    Object.fromEntries(Object.entries(options).filter(([word]) => words.includes(word)));
  const wanted = requiredProperties(options);
  // A token that is none is refused now, not by the first job.
  const make = (more: HubSpotClientOptions) =>
    new HubSpotClient({ ...given(CLIENT), retry, ...more });
  make({});
  return defineSync<HubSpotClient, HubSpotPayloads>({
    ...{ name: "hubspot", scopesUrl: SCOPES_URL, ...given(SYNC) },
    limits: { ...limits, kinds: { search: HUBSPOT_SEARCH, ...limits.kinds } },
    told: ratesOf(calls),
    operations: hubspotOperations(options),
    client: (held) => make({ calls: held }),
    classify: classifyHubSpot,
    ensure: {
      version: JSON.stringify(wanted),
      run: (client, signal) => ensureHubSpot(client, options, signal),
      remembered: (client, learnt) => {
        const { timeZone } = Object(learnt) as { timeZone?: unknown };
        if (typeof timeZone === "string") client.inZone(timeZone);
      },
    },
  });
}

export interface EnsuredHubSpot {
  readonly portalId: number;
  readonly timeZone: string;
  readonly properties: readonly Ensured[];
}

/** Everything that the operations write must be there. May be called again. */
export async function ensureHubSpot(
  client: HubSpotClient,
  words: Vocabulary = {},
  signal?: AbortSignal,
): Promise<EnsuredHubSpot> {
  const { portalId, timeZone } = await client.account({ signal });
  const ensured: Ensured[] = [];
  for (const { object, properties } of requiredProperties(words)) {
    ensured.push(...(await client.properties.ensure(object, properties, signal)));
  }
  return { portalId, timeZone, properties: ensured };
}
