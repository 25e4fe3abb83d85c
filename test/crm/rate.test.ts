/** The limits of HubSpot, kept by a fleet; and an outage, which a breaker survives. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hubspotSync } from "@holdfast/crm";
import { hubspotDouble } from "@holdfast/crm/double";
import { Holdfast } from "holdfast";
import { makePlace, openPlace } from "../failures/places.ts";
import { onlyInFull } from "../runner/tier.ts";
import { crmWorld } from "./crm-world.ts";
import { SyncProcesses } from "./sync-processes.ts";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const WINDOW_MS = 10_000;
/** Ours are longer: a call that is slow on its way arrives beside later ones. */
const ON_ITS_WAY_MS = 250;
const MEASURED_MS = 40_000;

describe("the rate of HubSpot", () => {
  it("is that of its headers: 90 and a burst of 10 of 100, and the same share of 190", async () => {
    const double = await hubspotDouble({ limits: { max: 190 } });
    const hf = new Holdfast({ store: (await import("holdfast/memory")).memoryStore(), logger });
    const crm = hubspotSync({ token: double.token, baseUrl: double.url }).attach(hf);
    await crm.setup();
    const perMs = WINDOW_MS + ON_ITS_WAY_MS;
    const rates = async () => (await hf.gates.get("hubspot.calls"))?.rate ?? [];
    expect((await rates())[0]).toEqual({ limit: 90, perMs, burst: 10 });
    await crm.ensure();
    await expect.poll(async () => (await rates())[0]?.limit).toBe(171);
    expect((await rates())[0]).toEqual({ limit: 171, perMs, burst: 19 });
    expect((await hf.gates.get("hubspot.search"))?.rate).toEqual([
      { limit: 4, perMs: 1_000 + ON_ITS_WAY_MS, burst: 1 },
    ]);
    await hf.close();
    await double.close();
  });

  it("is that of its headers also if the fleet had another one, from before this process", async () => {
    const double = await hubspotDouble();
    const hf = new Holdfast({ store: (await import("holdfast/memory")).memoryStore(), logger });
    const rate = { limit: 171, perMs: WINDOW_MS + ON_ITS_WAY_MS, burst: 19 };
    await hf.gates.set("hubspot.calls", { rate });
    const crm = hubspotSync({ token: double.token, baseUrl: double.url }).attach(hf);
    await crm.ensure();
    const now = async () => (await hf.gates.get("hubspot.calls"))?.rate[0]?.limit;
    await expect.poll(now).toBe(90);
    await hf.close();
    await double.close();
  });

  it(
    "holds in every window for three processes, which use at least 0.85 of it",
    { timeout: 180_000 },
    async (test) => {
      onlyInFull(test);
      const folder = await mkdtemp(join(tmpdir(), "holdfast-crm-"));
      const place = await makePlace("sqlite", folder);
      const double = await hubspotDouble();
      const processes = new SyncProcesses();
      const sync = { token: double.token, baseUrl: double.url };
      const hf = new Holdfast({ store: await openPlace(place), logger });
      try {
        const crm = hubspotSync(sync).attach(hf);
        await crm.ensure();
        await crm.enqueueAll(
          Array.from({ length: 600 }, (_, at) => ({
            ...{ operation: "create_contact", payload: { email: `n${at}@example.com` } },
          })),
        );
        const work = { concurrency: 10 };
        await Promise.all([1, 2, 3].map(() => processes.start({ place, sync, work })));
        const from = Date.now();
        await expect
          .poll(() => Date.now() - from, { timeout: MEASURED_MS + 10_000, interval: 500 })
          .toBeGreaterThan(MEASURED_MS);
        const used = double.requests.filter(({ at }) => at >= from).length;
        expect(double.busiest(WINDOW_MS)).toBeLessThanOrEqual(100);
        expect(double.requests.filter(({ status }) => status === 429)).toEqual([]);
        expect(used).toBeGreaterThanOrEqual(0.85 * 100 * (MEASURED_MS / WINDOW_MS));
        console.log(
          `used ${used} of ${(100 * MEASURED_MS) / WINDOW_MS}, busiest ${double.busiest(WINDOW_MS)}`,
        );
        const { jobs } = await hf.jobs({ queue: "hubspot", status: "queued", limit: 200 });
        expect(jobs.filter(({ attempts }) => attempts > 0)).toEqual([]);
      } finally {
        await processes.killAll();
        await hf.close({ graceMs: 0 });
        await double.close();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  );
});

describe("an outage of a minute", () => {
  it("opens the breaker, which closes by itself: jobs wait, and none dies", async () => {
    const world = await crmWorld();
    const { crm, hf, double, t } = world;
    await crm.ensure();
    double.faults.add({ kind: "status", status: 503, times: Infinity });
    await crm.enqueueAll(
      Array.from({ length: 40 }, (_, at) => ({
        ...{ operation: "create_contact", payload: { email: `n${at}@example.com` } },
      })),
    );
    await world.drain();
    expect((await hf.gates.get("hubspot"))?.state).toBe("open");
    const before = double.requests.length;
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await t.advance(5_000);
      await world.drain();
    }
    // Probes only: what waits is neither tried nor charged.
    expect(double.requests.length - before).toBeLessThanOrEqual(8);
    double.faults.clear();
    for (let minute = 0; minute < 10; minute += 1) await world.minutes(1);
    expect((await hf.gates.get("hubspot"))?.state).toBe("closed");
    const counts = (await hf.counts())["hubspot"];
    expect(counts).toMatchObject({ succeeded: 40, dead: 0, ready: 0, delayed: 0 });
    expect(double.objects("contacts")).toHaveLength(40);
    await world.close();
  });
});
