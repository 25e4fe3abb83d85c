/** The whole sync against the double: two worker processes, kills, and every fault that the double knows. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hubspotSync, type HubSpotSyncOptions } from "@holdfast/crm";
import { hubspotDouble, type Fault, type HubSpotDouble } from "@holdfast/crm/double";
import { Holdfast } from "holdfast";
import { makePlace, openPlace } from "../failures/places.ts";
import { inTier, onlyInFull } from "../runner/tier.ts";
import { SyncProcesses } from "./sync-processes.ts";

const MEMBERS = inTier({ daily: 4, full: 25 });
const KILLS = inTier({ daily: 1, full: 3 });
const STATUSES = ["trialing", "active", "past_due", "paused"];
const TIERS = ["Core", "Premium", "Full Member"];

const FAULTS: readonly Fault[] = [
  { kind: "rate_limit", times: 3 },
  { kind: "rate_limit", retryAfterS: 0.1, times: 2, after: 3 },
  { kind: "rate_limit", retryAfterS: 1, after: 9 },
  { kind: "status", status: 500, after: 5, path: "/crm/objects" },
  { kind: "status", status: 502, when: "after", times: 3, after: 7, path: "/batch/upsert" },
  { kind: "reset", times: 2, after: 11, path: "/crm/objects" },
  { kind: "reset", when: "after", times: 3, after: 13, path: "/batch/upsert" },
  { kind: "slow", ms: 300, times: 3, after: 15 },
  { kind: "slow", ms: 1_500, after: 17, path: "/batch/upsert" },
  { kind: "not_json", after: 19 },
  { kind: "not_json", status: 200, after: 21, path: "/batch/upsert" },
  { kind: "partial", inputs: [0], path: "/companies/batch/upsert" },
];

const SYNC = {
  ...{ retry: { maxAttempts: 6, baseMs: 200, factor: 2, maxMs: 2_000, jitter: 0 } },
  ...{ retryInCall: { minMs: 20, maxMs: 300 }, timeoutMs: 700, enable: ["create_deal"] },
  limits: { calls: { limit: 500, perMs: 1_000, burst: 100 }, breaker: null },
} satisfies HubSpotSyncOptions;
/** Longer than a busy machine keeps a process waiting: who is only late must not look as if it had been killed. */
const WORK = { concurrency: 5, leaseMs: 5_000 };

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("HubSpot equals its source in the end", () => {
  for (const name of ["sqlite", "postgres", "mongodb"] as const) {
    it(
      `on ${name}, with kills and every fault: nothing twice, nothing lost, nothing overtaken`,
      { timeout: 180_000 },
      async (test) => {
        if (name !== "sqlite") onlyInFull(test);
        const folder = await mkdtemp(join(tmpdir(), "holdfast-crm-"));
        const place = await makePlace(name, folder);
        const double = await hubspotDouble({ limits: { max: 100_000 } });
        const processes = new SyncProcesses();
        const access = { token: double.token, baseUrl: double.url };
        const hf = new Holdfast({ store: await openPlace(place), logger });
        try {
          const crm = hubspotSync({ ...SYNC, ...access }).attach(hf);
          await crm.ensure();
          double.faults.add(...FAULTS);
          const start = () => processes.start({ place, sync: { ...SYNC, ...access }, work: WORK });
          const workers = [await start(), await start()];
          const wanted = await enqueueAll(crm, MEMBERS);
          for (let kill = 0; kill < KILLS; kill += 1) {
            const before = double.requests.length;
            await until(() => double.requests.length >= before + 10 || isQuiet(hf));
            await processes.kill(workers[kill % 2]!);
            workers[kill % 2] = await start();
          }
          await until(() => isQuiet(hf));
          const { jobs: dead } = await hf.jobs({ queue: "hubspot", status: "dead", limit: 200 });
          // The input that was refused for good: an operator retries it. A process that was killed before it could
          // tell of the refusal leaves none, and its job was tried again.
          const told = dead.map(({ type, reason, error }) => [type, error?.category ?? reason]);
          expect([[], [["hubspot.sync_company", "validation"]]]).toContainEqual(told);
          for (const { id } of dead) await hf.retry(id, { by: "ops", reason: "mended" });
          await until(() => isQuiet(hf));
          expect(stateOf(double)).toEqual(wanted);
          expect(double.faults.left).toBe(0);
          const writes = double.requests.filter(({ method }) => method === "POST");
          for (const { path } of writes) expect(path).toMatch(/batch\/upsert$|\/properties\//);
        } finally {
          await processes.killAll();
          await hf.close({ graceMs: 0 });
          await double.close();
          await place.drop();
          await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        }
      },
    );
  }
});

type Crm = ReturnType<ReturnType<typeof hubspotSync>["attach"]>;

/** Every member's life, in its order; answers what HubSpot must have in the end. */
async function enqueueAll(crm: Crm, members: number) {
  const lives = Array.from({ length: members }, async (_, at) => {
    const email = `member${at}@example.com`;
    const companyId = `company-${at}`;
    await crm.enqueue("create_contact", { email, firstName: `First ${at}` });
    await crm.enqueue("sync_company", { companyId, name: `Company ${at}`, memberEmail: email });
    let oldTier = "None";
    for (const [step, status] of STATUSES.entries()) {
      // The later, the more urgent: priority alone would turn them round.
      await crm.enqueue("update_contact", { email, status }, { priority: 10 - step });
      const newTier = TIERS[(at + step) % TIERS.length]!;
      await crm.enqueue("sync_tier", { email, oldTier, newTier }, { priority: 10 - step });
      oldTier = newTier;
    }
    const paymentIntentId = `pi_${at}`;
    await crm.enqueue("sync_payment", { paymentIntentId, email, amountCents: 100 * (at + 1) });
    await crm.enqueue("sync_day_pass", { paymentIntentId, email, amountCents: 500 });
    await crm.enqueue("create_deal", { dealId: `deal-${at}`, name: `Deal ${at}`, email });
    const state: State = {
      ...{ email, firstname: `First ${at}`, status: "paused", tier: oldTier },
      ...{ paid: (at + 1).toFixed(2), companies: [`Company ${at}`], deals: [`Deal ${at}`] },
      notes: ["Day pass: 5.00 USD", `Payment: ${(at + 1).toFixed(2)} USD`],
    };
    return state;
  });
  return (await Promise.all(lives)).toSorted(byEmail);
}

interface State {
  readonly email: string;
  readonly firstname: string | undefined;
  readonly status: string | undefined;
  readonly tier: string | undefined;
  readonly paid: string | undefined;
  readonly companies: readonly string[];
  readonly deals: readonly string[];
  readonly notes: readonly string[];
}

/** All that is there, so that what is there twice shows. */
function stateOf(double: HubSpotDouble): State[] {
  const linked = (id: string, type: "companies" | "deals" | "notes", property: string) =>
    double.portal
      .associated("contacts", id, type)
      .map((other) => double.portal.find(type, other, null)?.properties[property] ?? "")
      .toSorted();
  const contacts = double.objects("contacts").map(({ id, properties }): State => ({
    ...{ email: properties["email"] ?? "", firstname: properties["firstname"] },
    ...{ status: properties["membership_status"], tier: properties["membership_tier"] },
    paid: properties["last_payment_amount"],
    companies: linked(id, "companies", "name"),
    deals: linked(id, "deals", "dealname"),
    notes: linked(id, "notes", "hs_note_body"),
  }));
  expect(double.objects("companies")).toHaveLength(contacts.length);
  expect(double.objects("deals")).toHaveLength(contacts.length);
  expect(double.objects("notes")).toHaveLength(2 * contacts.length);
  return contacts.toSorted(byEmail);
}

function byEmail(a: State, b: State): number {
  return a.email.localeCompare(b.email);
}

async function isQuiet(hf: Holdfast): Promise<boolean> {
  const counts = (await hf.counts())["hubspot"];
  return counts !== undefined && counts.ready + counts.delayed + counts.processing === 0;
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(async () => isDone(), { timeout: 120_000, interval: 100 }).toBe(true);
}
