/** Payments and day passes: on the contact, and as a note on its timeline, one for each payment. */
import type { OperationContext, OperationHandler } from "../../sync/operation.ts";
import type { HubSpotClient } from "../hubspot-client.ts";
import type { SyncDayPass, SyncPayment } from "../payloads.ts";
import { EXTERNAL_ID } from "../required-properties.ts";
import { writeContact } from "./write-contact.ts";

export const syncPaymentToHubSpot: OperationHandler<SyncPayment, HubSpotClient> = {
  run: async (context) => {
    const { payload } = context;
    const at = paidAt(context);
    const values = { last_payment_at: at, last_payment_amount: unitsOf(payload) };
    const about = payload.description ?? "Payment";
    return noted(context, { values, at, body: `${about}: ${moneyOf(payload)}`, kind: "payment" });
  },
};

export const syncDayPassToHubSpot: OperationHandler<SyncDayPass, HubSpotClient> = {
  run: async (context) => {
    const { payload } = context;
    const at = paidAt(context);
    const visitAt =
      payload.visitDate === undefined ? at : new Date(payload.visitDate).toISOString();
    const about = payload.description ?? "Day pass";
    return noted(context, {
      ...{ values: { last_day_pass_at: visitAt }, at, kind: "day_pass" },
      body: `${about}: ${moneyOf(payload)}`,
    });
  },
};

async function noted(
  { payload, client, signal, stale }: OperationContext<SyncPayment, HubSpotClient>,
  note: {
    readonly values: Readonly<Record<string, string>>;
    readonly at: string;
    readonly body: string;
    readonly kind: string;
  },
): Promise<unknown> {
  const contact = await writeContact(client, payload.email, note.values, { signal, stale });
  const id = `${note.kind}_${payload.paymentIntentId}`;
  const properties = { hs_timestamp: note.at, hs_note_body: note.body };
  const input = { idProperty: EXTERNAL_ID, id, properties };
  const made = await client.upsertOne("notes", input, { signal });
  const target = { object: "contacts", id: contact.id } as const;
  await client.associate({ object: "notes", id: made.id }, target, { signal });
  return { contactId: contact.id, noteId: made.id };
}

/** The same for every attempt. */
function paidAt({ payload, job }: OperationContext<SyncPayment, HubSpotClient>): string {
  return (payload.paidAt === undefined ? job.createdAt : new Date(payload.paidAt)).toISOString();
}

function unitsOf(payload: SyncPayment): string {
  const digits = digitsOf(currencyOf(payload));
  return (payload.amountCents / 10 ** digits).toFixed(digits);
}

function moneyOf(payload: SyncPayment): string {
  return `${unitsOf(payload)} ${currencyOf(payload)}`;
}

function currencyOf({ currency = "usd" }: SyncPayment): string {
  return currency.toUpperCase();
}

/** Of the unit behind the point: two for most currencies, none for the yen. */
function digitsOf(currency: string): number {
  try {
    const format = new Intl.NumberFormat("en", { style: "currency", currency });
    return format.resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    // That is the name of no currency.
    return 2;
  }
}
