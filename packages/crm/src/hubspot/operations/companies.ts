/** Companies. A domain is not unique over the API: they are found by the application's own id. */
import type { OperationHandler } from "../../sync/operation.ts";
import type { HubSpotClient } from "../hubspot-client.ts";
import type { SyncCompany } from "../payloads.ts";
import { EXTERNAL_ID } from "../required-properties.ts";
import { withoutStale, writeContact } from "./write-contact.ts";

export const syncCompanyToHubSpot: OperationHandler<SyncCompany, HubSpotClient> = {
  async run({ payload, client, signal, stale }) {
    const { companyId: id, name, domain, memberEmail, properties: others = {} } = payload;
    const all = { ...others, name, ...(domain !== undefined && { domain }) };
    const properties = withoutStale(stale, all);
    const company = await client.upsertOne(
      "companies",
      { idProperty: EXTERNAL_ID, id, properties },
      { signal },
    );
    if (memberEmail === undefined) return { companyId: company.id };
    const contact = await writeContact(client, memberEmail, {}, { signal });
    const member = { object: "contacts", id: contact.id } as const;
    await client.associate(member, { object: "companies", id: company.id }, { signal });
    return { companyId: company.id, contactId: contact.id };
  },
};
