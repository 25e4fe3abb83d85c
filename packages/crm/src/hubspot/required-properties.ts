/** The properties that the operations write, beyond those that every portal has. */
import { InvalidOptionError } from "holdfast";
import { OBJECTS, type HubSpotObject } from "./paths.ts";
import { BILLING_PROVIDERS, type Vocabulary } from "./payloads.ts";
import type { HubSpotProperty } from "./properties.ts";

/** What objects without a unique property of their own are found by. */
export const EXTERNAL_ID = "external_id";

const GROUPS: Readonly<Record<HubSpotObject, string>> = {
  ...{ contacts: "contactinformation", companies: "companyinformation", deals: "dealinformation" },
  ...{ notes: "note", calls: "call", tasks: "task", tickets: "ticketinformation" },
};

const externalId = (groupName: string): HubSpotProperty => ({
  ...{ name: EXTERNAL_ID, label: "External id", type: "string", fieldType: "text", groupName },
  hasUniqueValue: true,
});

const ofContact = (
  name: string,
  label: string,
  type: HubSpotProperty["type"],
  fieldType: string,
): HubSpotProperty => ({ name, label, type, fieldType, groupName: "contactinformation" });

export function requiredProperties(
  words: Vocabulary,
): readonly { readonly object: HubSpotObject; readonly properties: readonly HubSpotProperty[] }[] {
  const providers = words.billingProviders ?? BILLING_PROVIDERS;
  return [
    {
      object: "contacts",
      properties: [
        {
          ...ofContact("billing_provider", "Billing provider", "enumeration", "select"),
          options: providers.map((value) => ({ label: value, value })),
        },
        ofContact("membership_tier", "Membership tier", "string", "text"),
        ofContact("membership_status", "Membership status", "string", "text"),
        ofContact("last_payment_at", "Last payment", "datetime", "date"),
        ofContact("last_payment_amount", "Last payment amount", "number", "number"),
        ofContact("last_day_pass_at", "Last day pass", "datetime", "date"),
      ],
    },
    ...numbered(words).map((object) => ({ object, properties: [externalId(GROUPS[object])] })),
  ];
}

/** Each object once, those of the operations first. */
function numbered({ externalIds = [] }: Vocabulary): HubSpotObject[] {
  for (const object of externalIds) {
    if (OBJECTS.includes(object)) continue;
    throw new InvalidOptionError(`externalIds takes objects of HubSpot: ${OBJECTS.join(", ")}`);
  }
  return [...new Set<HubSpotObject>(["companies", "deals", "notes", ...externalIds])];
}
