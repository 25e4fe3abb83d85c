/** What each of system 4's operations takes. */
import {
  amount,
  email,
  instant,
  oneOf,
  optional,
  shape,
  text,
  textMap,
  type Field,
  type ShapeOf,
} from "../sync/shape.ts";
import type { HubSpotObject } from "./paths.ts";

export const BILLING_PROVIDERS = ["stripe", "mindbody", "manual"] as const;
export const STATUSES = [
  ...(["active", "trialing", "past_due", "paused", "cancelled", "inactive"] as const),
] as const;

/** What an application calls its own. */
export interface Vocabulary {
  /** Default: any text. */
  readonly tiers?: readonly string[] | undefined;
  /** Of a membership. Default: active, trialing, past_due, paused, cancelled, inactive. */
  readonly statuses?: readonly string[] | undefined;
  /** Default: stripe, mindbody, manual. */
  readonly billingProviders?: readonly string[] | undefined;
  /** Objects beside companies, deals and notes that calls of yours write under `external_id`. Default: none. */
  readonly externalIds?: readonly HubSpotObject[] | undefined;
}

/** Any order of them gives the same shapes: schemas are made once for each sync. */
export function hubspotPayloads(words: Vocabulary) {
  const tier: Field<string> = words.tiers ? oneOf(words.tiers) : text({ max: 100 });
  const status: Field<string> = oneOf<string>(words.statuses ?? STATUSES);
  const provider: Field<string> = oneOf<string>(words.billingProviders ?? BILLING_PROVIDERS);
  const person = {
    ...{ email: email(), firstName: optional(text()), lastName: optional(text()) },
    phone: optional(text({ max: 50 })),
  };
  const payment = {
    ...{ paymentIntentId: text({ max: 200 }), email: email() },
    /** In the smallest unit of the currency. */
    amountCents: amount(),
    currency: optional(text({ max: 3 })),
    ...{ description: optional(text()), paidAt: optional(instant()) },
  };
  return {
    createContact: shape({ ...person, tier: optional(tier), status: optional(status) }),
    updateContact: shape({ email: email(), status, billingProvider: optional(provider) }),
    syncTier: shape({ email: email(), oldTier: optional(tier), newTier: tier }),
    syncCompany: shape({
      ...{ companyId: text({ max: 200 }), name: text(), domain: optional(text({ max: 253 })) },
      ...{ memberEmail: optional(email()), properties: optional(textMap()) },
    }),
    syncPayment: shape(payment),
    syncDayPass: shape({ ...payment, visitDate: optional(instant()) }),
    createDeal: shape({
      ...{ dealId: text({ max: 200 }), name: text(), amountCents: optional(amount()) },
      ...{ stage: optional(text()), email: optional(email()) },
    }),
    syncMember: shape({
      ...person,
      ...{ tier: optional(tier), status: optional(status), billingProvider: optional(provider) },
    }),
  };
}

type Payloads = ReturnType<typeof hubspotPayloads>;
export type CreateContact = ShapeOf<Payloads["createContact"]>;
export type UpdateContact = ShapeOf<Payloads["updateContact"]>;
export type SyncTier = ShapeOf<Payloads["syncTier"]>;
export type SyncCompany = ShapeOf<Payloads["syncCompany"]>;
export type SyncPayment = ShapeOf<Payloads["syncPayment"]>;
export type SyncDayPass = ShapeOf<Payloads["syncDayPass"]>;
export type CreateDeal = ShapeOf<Payloads["createDeal"]>;
export type SyncMember = ShapeOf<Payloads["syncMember"]>;
