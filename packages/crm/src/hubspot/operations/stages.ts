/** The status of a membership. */
import type { OperationHandler } from "../../sync/operation.ts";
import type { HubSpotClient } from "../hubspot-client.ts";
import type { UpdateContact } from "../payloads.ts";
import { writeContact } from "./write-contact.ts";

export const updateContactMembershipStatus: OperationHandler<UpdateContact, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const { email, status, billingProvider } = payload;
    const values = { membership_status: status, billing_provider: billingProvider };
    const { id } = await writeContact(client, email, values, { signal, stale });
    return { contactId: id };
  },
};
