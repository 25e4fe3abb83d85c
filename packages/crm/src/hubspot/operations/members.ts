/** Contacts and their tiers. */
import type { OperationHandler } from "../../sync/operation.ts";
import type { HubSpotClient } from "../hubspot-client.ts";
import type { CreateContact, SyncMember, SyncTier } from "../payloads.ts";
import { writeContact } from "./write-contact.ts";

export const findOrCreateHubSpotContact: OperationHandler<CreateContact, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const { email, firstName, lastName, phone, tier, status } = payload;
    const values = { firstname: firstName, lastname: lastName, phone };
    const membership = { membership_tier: tier, membership_status: status };
    const all = { ...values, ...membership };
    const { id, isNew } = await writeContact(client, email, all, { signal, stale });
    return { contactId: id, isNew };
  },
};

export const syncTierToHubSpot: OperationHandler<SyncTier, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const values = { membership_tier: payload.newTier };
    const { id, isNew } = await writeContact(client, payload.email, values, { signal, stale });
    return { contactId: id, isNew };
  },
};

export const syncMemberToHubSpot: OperationHandler<SyncMember, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const { email, firstName, lastName, phone, tier, status, billingProvider } = payload;
    const values = {
      ...{ firstname: firstName, lastname: lastName, phone, membership_tier: tier },
      ...{ membership_status: status, billing_provider: billingProvider },
    };
    const { id, isNew } = await writeContact(client, email, values, { signal, stale });
    return { contactId: id, isNew };
  },
};
