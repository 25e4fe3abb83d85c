/** A contact, found or made by its email: an upsert, so that a repetition changes nothing. */
import type { HubSpotClient, HubSpotRecord } from "../hubspot-client.ts";

export function writeContact(
  client: HubSpotClient,
  email: string,
  values: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<HubSpotRecord & { readonly isNew: boolean }> {
  const given = Object.entries(values).filter(
    (one): one is [string, string] => one[1] !== undefined,
  );
  // The email belongs to the properties, too: an upsert of a contact that is not there makes it from them.
  const properties = { email: email.toLowerCase(), ...Object.fromEntries(given) };
  const input = { idProperty: "email", id: email.toLowerCase(), properties };
  return client.upsertOne("contacts", input, { signal });
}
