/** System 4's eight operations: their payloads, keys and records. Handlers are loaded when a job needs them. */
import type { SyncOperation } from "../sync/operation.ts";
import type { HubSpotClient } from "./hubspot-client.ts";
import {
  hubspotPayloads,
  type CreateContact,
  type CreateDeal,
  type SyncCompany,
  type SyncDayPass,
  type SyncMember,
  type SyncPayment,
  type SyncTier,
  type UpdateContact,
  type Vocabulary,
} from "./payloads.ts";

type Operation<Payload> = SyncOperation<Payload, HubSpotClient>;

/** Keys have no spaces: a tier may. */
const plain = (key: string) => key.replaceAll(" ", "_");
/** Upper and lower case are the same contact. */
const contactOf = ({ email }: { readonly email: string }) => `contact:${email.toLowerCase()}`;

/** A type, not an interface: it has the index that `defineSync` asks for. */
export type HubSpotOperations = {
  readonly create_contact: Operation<CreateContact>;
  readonly update_contact: Operation<UpdateContact>;
  readonly create_deal: Operation<CreateDeal>;
  readonly sync_member: Operation<SyncMember>;
  readonly sync_tier: Operation<SyncTier>;
  readonly sync_company: Operation<SyncCompany>;
  readonly sync_day_pass: Operation<SyncDayPass>;
  readonly sync_payment: Operation<SyncPayment>;
};

export function hubspotOperations(words: Vocabulary): HubSpotOperations {
  const payloads = hubspotPayloads(words);
  return {
    create_contact: {
      payload: payloads.createContact,
      record: contactOf,
      key: ({ email }) => plain(`member_creation_${email}`),
      load: async () => (await import("./operations/members.ts")).findOrCreateHubSpotContact,
    },
    update_contact: {
      payload: payloads.updateContact,
      record: contactOf,
      load: async () => (await import("./operations/stages.ts")).updateContactMembershipStatus,
    },
    create_deal: {
      payload: payloads.createDeal,
      isOff: true,
      record: ({ dealId }) => `deal:${dealId}`,
      load: async () => (await import("./operations/deals.ts")).createHubSpotDeal,
    },
    sync_member: {
      payload: payloads.syncMember,
      isOff: true,
      record: contactOf,
      load: async () => (await import("./operations/members.ts")).syncMemberToHubSpot,
    },
    sync_tier: {
      payload: payloads.syncTier,
      record: contactOf,
      key: ({ email, oldTier = "none", newTier }) =>
        plain(`tier_sync_${email}_${oldTier}_to_${newTier}`),
      load: async () => (await import("./operations/members.ts")).syncTierToHubSpot,
    },
    sync_company: {
      payload: payloads.syncCompany,
      record: ({ companyId }) => `company:${companyId}`,
      load: async () => (await import("./operations/companies.ts")).syncCompanyToHubSpot,
    },
    sync_day_pass: {
      payload: payloads.syncDayPass,
      record: contactOf,
      key: ({ paymentIntentId }) => plain(`day_pass_sync_${paymentIntentId}`),
      load: async () => (await import("./operations/payments.ts")).syncDayPassToHubSpot,
    },
    sync_payment: {
      payload: payloads.syncPayment,
      record: contactOf,
      key: ({ paymentIntentId }) => plain(`payment_sync_${paymentIntentId}`),
      load: async () => (await import("./operations/payments.ts")).syncPaymentToHubSpot,
    },
  };
}
