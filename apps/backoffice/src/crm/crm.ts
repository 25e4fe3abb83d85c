/** System 4's sync, on this Holdfast: `@Inject(CRM) crm: Crm`. */
import { hubspotSync, type HubSpotOperations, type Sync } from "@holdfast/crm";
import type { Holdfast } from "holdfast";
import type { CrmSettings } from "./crm-settings.ts";
import { VOCABULARY, type CrmTarget } from "./crm-target.ts";

export const CRM = Symbol("crm");
export const CRM_NAME = "hubspot";
export type Crm = Sync<HubSpotOperations>;

/** System 4: five retries, after 2, 4, 8, 16 and 32 minutes. */
const MAX_RETRIES = 5;
const MOST_BASES = 60;
/** Open after so many failures in a minute; closed by two calls that go well. */
const BREAKER = { failures: 8, withinMs: 60_000, probes: 2 };

export function crmOf(hf: Holdfast, target: CrmTarget, settings: CrmSettings): Crm {
  const { retryBaseMs, breakerOpenMs, hasCycles } = settings;
  return hubspotSync({
    ...{ ...VOCABULARY, name: CRM_NAME, token: target.token, baseUrl: target.url },
    cycles: hasCycles,
    retry: {
      ...{ maxAttempts: 1 + MAX_RETRIES, baseMs: 2 * retryBaseMs, factor: 2, jitter: 0 },
      maxMs: MOST_BASES * retryBaseMs,
    },
    limits: { breaker: { ...BREAKER, openMs: breakerOpenMs } },
  }).attach(hf);
}
