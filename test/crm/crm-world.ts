/** A sync of HubSpot against the double, on virtual time: minutes and hours pass at once, calls are real. */
import { hubspotSync, type HubSpotSyncOptions, type StaffAlert } from "@holdfast/crm";
import { hubspotDouble, type DoubleOptions } from "@holdfast/crm/double";
import { testHoldfast } from "holdfast/testing";

const MINUTE_MS = 60_000;

export async function crmWorld(
  options: Omit<HubSpotSyncOptions, "token" | "baseUrl"> = {},
  doubleOptions: DoubleOptions = {},
) {
  const double = await hubspotDouble(doubleOptions);
  const told: StaffAlert[] = [];
  const lines: { level: string; message: string }[] = [];
  const sync = hubspotSync({
    ...{ token: double.token, baseUrl: double.url, retryInCall: { minMs: 1, maxMs: 40 } },
    ...options,
    // A call that waits for its rate waits for time to pass, which a drain does not let it do.
    limits: { calls: { limit: 1_000, perMs: 1_000, burst: 1_000 }, ...options.limits },
  });
  const note = (level: string) => (message: string) => void lines.push({ level, message });
  const logger = {
    ...{ debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
  };
  const notify = [sync.notifier((alert) => void told.push(alert))];
  const t = testHoldfast({ alerts: { spike: null, notify }, logger, patienceMs: 10_000 });
  const crm = sync.attach(t.hf);
  return {
    ...{ double, sync, crm, hf: t.hf, t, told, lines },
    drain: () => t.drain(),
    /** Time passes; what is due then runs. */
    async minutes(count: number) {
      await t.advance(count * MINUTE_MS);
      await t.drain();
    },
    /** Alerts are gathered a moment after a death, and delivered by jobs. */
    async alerts(): Promise<readonly StaffAlert[]> {
      await t.hf.alerts.look();
      await t.drain();
      return told;
    },
    async close() {
      await t.hf.close();
      await double.close();
    },
  };
}

export type CrmWorld = Awaited<ReturnType<typeof crmWorld>>;

/** One of each operation, for one member. */
export const PAYLOADS = {
  create_contact: { email: "ada@example.com", firstName: "Ada", lastName: "Lovelace" },
  update_contact: { email: "ada@example.com", status: "active", billingProvider: "stripe" },
  sync_tier: { email: "ada@example.com", oldTier: "Day Pass", newTier: "Full Member" },
  sync_company: { companyId: "c-7", name: "Engines Ltd", memberEmail: "ada@example.com" },
  sync_payment: { paymentIntentId: "pi_1", email: "ada@example.com", amountCents: 12_500 },
  sync_day_pass: { paymentIntentId: "pi_2", email: "ada@example.com", amountCents: 2_500 },
  create_deal: { dealId: "d-1", name: "Yearly", amountCents: 120_000, email: "ada@example.com" },
  sync_member: { email: "ada@example.com", tier: "Full Member", status: "active" },
} as const;
