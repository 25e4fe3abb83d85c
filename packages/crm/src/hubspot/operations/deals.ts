/** Deals, by the application's own id. Switched off unless it is enabled. */
import type { OperationHandler } from "../../sync/operation.ts";
import type { HubSpotClient } from "../hubspot-client.ts";
import type { CreateDeal } from "../payloads.ts";
import { EXTERNAL_ID } from "../required-properties.ts";
import { withoutStale, writeContact } from "./write-contact.ts";

export const createHubSpotDeal: OperationHandler<CreateDeal, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const { dealId: id, name, amountCents, stage, email } = payload;
    const properties = withoutStale(stale, {
      dealname: name,
      ...(amountCents !== undefined && { amount: (amountCents / 100).toFixed(2) }),
      ...(stage !== undefined && { dealstage: stage }),
    });
    const input = { idProperty: EXTERNAL_ID, id, properties };
    const deal = await client.upsertOne("deals", input, { signal });
    if (email === undefined) return { dealId: deal.id };
    const contact = await writeContact(client, email, {}, { signal });
    const buyer = { object: "contacts", id: contact.id } as const;
    await client.associate({ object: "deals", id: deal.id }, buyer, { signal });
    return { dealId: deal.id, contactId: contact.id };
  },
};
