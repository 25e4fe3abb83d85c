/** What the environment says of the CRM. Without a token it is the double of `@holdfast/crm`, in this process. */
import { textOf, wholeOf, type Env } from "../config/env-values.ts";

export interface CrmSettings {
  /** Null: the double. */
  readonly token: string | null;
  /** Undefined: HubSpot's own. */
  readonly url: string | undefined;
  /** System 4: `min(this × 2^retry, 60 × this)`. */
  readonly retryBaseMs: number;
  /** How long calls rest once too many have failed. */
  readonly breakerOpenMs: number;
  /** As system 4 did: at most 20 jobs every two minutes. Default: jobs run as they come. */
  readonly hasCycles: boolean;
}

const MINUTE_MS = 60_000;
const OPEN_MS = 30_000;
const DAY_MS = 86_400_000;

export function readCrm(env: Env, problems: string[]): CrmSettings {
  const token = textOf(env, "HUBSPOT_TOKEN") ?? null;
  const url = textOf(env, "HUBSPOT_URL");
  if (token !== null && !/^[\x21-\x7e]{8,4096}$/.test(token)) {
    problems.push("HUBSPOT_TOKEN is the token of a private app, 8 characters or more");
  }
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    problems.push("HUBSPOT_URL is an address such as https://api.hubapi.com");
  }
  if (url !== undefined && token === null) {
    problems.push("HUBSPOT_URL needs HUBSPOT_TOKEN; without both, a double takes HubSpot's place");
  }
  const cycles = textOf(env, "HUBSPOT_CYCLES") ?? "false";
  if (cycles !== "true" && cycles !== "false") problems.push("HUBSPOT_CYCLES is true or false");
  const ms = (name: string, or: number) =>
    wholeOf(env, name, { min: 1, max: DAY_MS, or }, problems);
  return {
    ...{ token, url, hasCycles: cycles === "true" },
    retryBaseMs: ms("HUBSPOT_RETRY_BASE_MS", MINUTE_MS),
    breakerOpenMs: ms("HUBSPOT_BREAKER_OPEN_MS", OPEN_MS),
  };
}
