/** System 4's eight operations: their payloads, keys and records. Handlers are loaded when a job needs them. */
import type { OperationsOf } from "../sync/operation.ts";
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

/** Keys have no spaces: a tier may. */
const plain = (key: string) => key.replaceAll(" ", "_");
/** Upper and lower case are the same contact. */
const contactOf = ({ email }: { readonly email: string }) => `contact:${email.toLowerCase()}`;

/** The properties of a contact that the fields of payloads set. */
const CONTACT: Readonly<Record<string, string>> = {
  ...{ firstName: "firstname", lastName: "lastname", phone: "phone" },
  ...{ tier: "membership_tier", newTier: "membership_tier" },
  ...{ status: "membership_status", billingProvider: "billing_provider" },
};
const setOf = (payload: object) =>
  Object.entries(CONTACT).flatMap(([field, property]) =>
    (payload as Record<string, unknown>)[field] === undefined ? [] : [property],
  );

export interface HubSpotPayloads {
  readonly create_contact: CreateContact;
  readonly update_contact: UpdateContact;
  readonly create_deal: CreateDeal;
  readonly sync_member: SyncMember;
  readonly sync_tier: SyncTier;
  readonly sync_company: SyncCompany;
  readonly sync_day_pass: SyncDayPass;
  readonly sync_payment: SyncPayment;
}

export type HubSpotOperations = OperationsOf<HubSpotPayloads, HubSpotClient>;

export function hubspotOperations(words: Vocabulary): HubSpotOperations {
  const payloads = hubspotPayloads(words);
  return {
    create_contact: {
      payload: payloads.createContact,
      record: contactOf,
      writes: setOf,
      key: ({ email }) => plain(`member_creation_${email}`),
      load: async () => (await import("./operations/members.ts")).findOrCreateHubSpotContact,
    },
    update_contact: {
      payload: payloads.updateContact,
      record: contactOf,
      writes: setOf,
      load: async () => (await import("./operations/stages.ts")).updateContactMembershipStatus,
    },
    create_deal: {
      payload: payloads.createDeal,
      isOff: true,
      record: ({ dealId }) => `deal:${dealId}`,
      writes: ({ amountCents, stage }) => [
        ...["dealname", ...(amountCents === undefined ? [] : ["amount"])],
        ...(stage === undefined ? [] : ["dealstage"]),
      ],
      leavesMore: true,
      load: async () => (await import("./operations/deals.ts")).createHubSpotDeal,
    },
    sync_member: {
      payload: payloads.syncMember,
      isOff: true,
      record: contactOf,
      writes: setOf,
      load: async () => (await import("./operations/members.ts")).syncMemberToHubSpot,
    },
    sync_tier: {
      payload: payloads.syncTier,
      record: contactOf,
      writes: setOf,
      key: ({ email, oldTier = "none", newTier }) =>
        plain(`tier_sync_${email}_${oldTier}_to_${newTier}`),
      load: async () => (await import("./operations/members.ts")).syncTierToHubSpot,
    },
    sync_company: {
      payload: payloads.syncCompany,
      record: ({ companyId }) => `company:${companyId}`,
      writes: ({ domain, properties = {} }) => [
        ...["name", ...(domain === undefined ? [] : ["domain"]), ...Object.keys(properties)],
      ],
      leavesMore: true,
      load: async () => (await import("./operations/companies.ts")).syncCompanyToHubSpot,
    },
    sync_day_pass: {
      payload: payloads.syncDayPass,
      record: contactOf,
      writes: () => ["last_day_pass_at"],
      leavesMore: true,
      key: ({ paymentIntentId }) => plain(`day_pass_sync_${paymentIntentId}`),
      load: async () => (await import("./operations/payments.ts")).syncDayPassToHubSpot,
    },
    sync_payment: {
      payload: payloads.syncPayment,
      record: contactOf,
      writes: () => ["last_payment_at", "last_payment_amount"],
      leavesMore: true,
      key: ({ paymentIntentId }) => plain(`payment_sync_${paymentIntentId}`),
      load: async () => (await import("./operations/payments.ts")).syncPaymentToHubSpot,
    },
  };
}
