/** A contact, found or made by its email: an upsert, so that a repetition changes nothing. */
import type { HubSpotClient, HubSpotRecord } from "../hubspot-client.ts";

const NONE: ReadonlySet<string> = new Set();

export function writeContact(
  client: HubSpotClient,
  email: string,
  values: Readonly<Record<string, string | undefined>>,
  { signal, stale = NONE }: { readonly signal: AbortSignal; readonly stale?: ReadonlySet<string> },
): Promise<HubSpotRecord & { readonly isNew: boolean }> {
  const given = withoutStale(stale, values);
  // The email belongs to the properties, too: an upsert of a contact that is not there makes it from them.
  const properties = { email: email.toLowerCase(), ...given };
  const input = { idProperty: "email", id: email.toLowerCase(), properties };
  return client.upsertOne("contacts", input, { signal });
}

/** What is given, but for what a newer job has written. */
export function withoutStale(
  stale: ReadonlySet<string>,
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = Object.entries(values).filter(
    (one): one is [string, string] => one[1] !== undefined && !stale.has(one[0]),
  );
  return Object.fromEntries(given);
}
