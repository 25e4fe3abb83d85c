/** System 4, steps 1 and 4, "Retry Strategy" and "Dead Letter Handling". */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "holdfast";
import { crmWorld, PAYLOADS, type CrmWorld } from "./crm-world.ts";

const MINUTE_MS = 60_000;

describe("a job of system 4 that fails", () => {
  let world: CrmWorld;
  beforeEach(async () => {
    world = await crmWorld({ limits: { breaker: null } });
  });
  afterEach(() => world.close());

  const pay = () => world.crm.enqueue("sync_payment", PAYLOADS.sync_payment);
  const look = async (id: string) => (await world.hf.job(id))!;

  it("waits 2, 4, 8, 16 and 32 minutes, then is dead after one try and five retries", async () => {
    world.double.faults.add({ kind: "status", status: 500, times: Infinity });
    const { id } = await pay();
    await world.drain();
    for (const [at, minutes] of [2, 4, 8, 16, 32].entries()) {
      const job = await look(id);
      expect(job).toMatchObject({ status: "queued", attempts: at + 1, maxAttempts: 6 });
      expect(job.runAt.getTime() - world.t.now()).toBe(minutes * MINUTE_MS);
      await world.t.advance(minutes * MINUTE_MS - 1);
      await world.drain();
      expect((await look(id)).attempts).toBe(at + 1);
      await world.t.advance(1);
      await world.drain();
    }
    expect(await look(id)).toMatchObject({ status: "dead", attempts: 6 });
    const [alert] = await world.alerts();
    expect(alert).toMatchObject({
      ...{ type: "integration_error", operation: "sync_payment", retries: 5, jobIds: [id] },
      ...{ jobId: id, link: null, count: 1, integration: "hubspot" },
    });
    expect(alert?.error).toContain("500");
    expect(alert?.guidance).toContain("Manual intervention may be required");
  });

  it.each([
    ["a 401", { kind: "unauthorized" }, [], null],
    [
      "missing scopes",
      { kind: "missing_scopes", scopes: ["crm.objects.contacts.write"] },
      ["crm.objects.contacts.write"],
      "https://app.hubspot.com/private-apps",
    ],
    ["a 403", { kind: "status", status: 403 }, [], null],
  ] as const)("is dead at once after %s, and staff are told", async (_, fault, scopes, link) => {
    await world.crm.ensure();
    world.double.faults.add(fault);
    const { id } = await pay();
    await world.drain();
    expect(await look(id)).toMatchObject({ status: "dead", attempts: 1 });
    const alerts = await world.alerts();
    expect(alerts).toHaveLength(1);
    expect(alerts[0]).toMatchObject({
      ...{ type: "integration_error", retries: 0, jobId: id, missingScopes: scopes, link },
    });
  });

  it("is told of with others of the same fault: one alert, naming every job", async () => {
    await world.crm.ensure();
    world.double.faults.add({ kind: "unauthorized", times: 3 });
    const ids: string[] = [];
    for (const email of ["a@example.com", "b@example.com", "c@example.com"]) {
      const { id } = await world.crm.enqueue("create_contact", { email });
      ids.push(id);
    }
    await world.drain();
    const alerts = await world.alerts();
    expect(alerts).toHaveLength(1);
    expect(new Set(alerts[0]!.jobIds)).toEqual(new Set(ids));
    expect(alerts[0]!.count).toBe(3);
  });

  it.each([
    ["network trouble", { kind: "reset" }],
    ["a 5xx", { kind: "status", status: 502 }],
    ["a page instead of JSON", { kind: "not_json" }],
    ["a page instead of JSON that says 200", { kind: "not_json", status: 200 }],
  ] as const)("is tried again after %s", async (_, fault) => {
    await world.crm.ensure();
    world.double.faults.add(fault);
    const { id } = await pay();
    await world.drain();
    expect(await look(id)).toMatchObject({ status: "queued", attempts: 1 });
    await world.minutes(2);
    expect((await look(id)).status).toBe("succeeded");
  });

  it("spends no attempt on a 429, and all others wait with it", async () => {
    await world.crm.ensure();
    const path = /\/crm\/objects\//;
    world.double.faults.add({ kind: "rate_limit", retryAfterS: 600, path });
    const { id } = await pay();
    const other = await world.crm.enqueue("sync_company", PAYLOADS.sync_company);
    await world.drain();
    expect((await look(id)).status).toBe("queued");
    expect((await look(id)).attempts).toBe(0);
    const gate = await world.hf.gates.get("hubspot");
    const left = gate!.cooldownUntil!.getTime() - world.t.now();
    expect(left).toBeGreaterThan(590_000);
    expect(left).toBeLessThanOrEqual(600_000);
    await world.minutes(9);
    const late = await world.crm.enqueue("create_contact", { email: "late@example.com" });
    await world.drain();
    expect((await look(late.id)).attempts).toBe(0);
    await world.minutes(2);
    for (const one of [id, other.id, late.id]) expect((await look(one)).status).toBe("succeeded");
  });

  it("waits no longer than for a daily limit, whatever Retry-After says: others are behind it", async () => {
    await world.crm.ensure();
    // Milliseconds, where seconds are meant.
    const path = /\/crm\/objects\//;
    world.double.faults.add({ kind: "rate_limit", retryAfterS: 3_600_000, path });
    const { id } = await pay();
    const behind = await world.crm.enqueue("sync_tier", PAYLOADS.sync_tier);
    await world.drain();
    expect(await look(id)).toMatchObject({ status: "queued", attempts: 0 });
    for (let hours = 0; hours < 26; hours += 1) await world.minutes(60);
    for (const one of [id, behind.id]) expect((await look(one)).status).toBe("succeeded");
  });

  it("waits until the account's midnight after the daily limit", async () => {
    // Not one in which the day has just begun: there it is asked again soon.
    const isNewDay = clockIn("America/New_York", Date.now()).startsWith("00");
    const timeZone = isNewDay ? "Asia/Tokyo" : "America/New_York";
    const zoned = await crmWorld({}, { timeZone });
    await zoned.crm.ensure();
    zoned.double.faults.add({ kind: "rate_limit", policy: "DAILY", path: "/crm/objects/" });
    const asked = Date.now();
    const { id } = await zoned.crm.enqueue("sync_payment", PAYLOADS.sync_payment);
    await zoned.drain();
    const gate = await zoned.hf.gates.get("hubspot");
    const forMs = gate!.cooldownUntil!.getTime() - zoned.t.now();
    // The double lives on the real clock, the jobs on a virtual one: the length of the wait is what counts.
    expect(clockIn(timeZone, asked + forMs + 5_000)).toBe("00:00");
    expect((await zoned.hf.job(id))?.attempts).toBe(0);
    await zoned.close();
  });

  it("is not charged where our own store was away for a moment, and HubSpot is not blamed", async () => {
    const other = await crmWorld();
    await other.crm.ensure();
    const emails = Array.from({ length: 10 }, (_, at) => `n${at}@example.com`);
    await other.crm.enqueueAll(
      emails.map((email) => ({ operation: "create_contact", payload: { email } })),
    );
    const { records } = other.hf;
    const get = records.get.bind(records);
    let away = emails.length;
    records.get = (async (key: string) => {
      if (!key.startsWith("crm/hubspot/line/") || away === 0) return get(key);
      away -= 1;
      const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      throw new StoreUnavailableError("gone", { mayHaveHappened: false, cause });
    }) as typeof records.get;
    await other.drain();
    expect(away).toBe(0);
    expect(await other.hf.gates.get("hubspot")).toMatchObject({
      ...{ state: "closed", failures: 0, cooldownUntil: null },
    });
    const { jobs } = await other.hf.jobs({ queue: "hubspot" });
    expect(jobs.map(({ attempts }) => attempts)).toEqual(emails.map(() => 0));
    await other.minutes(1);
    expect(other.double.objects("contacts")).toHaveLength(10);
    await other.close();
  });

  it.each([
    ["a property that the portal refuses", { email: "ada@example.com", phone: "1" }, "phone"],
  ])("is dead at once after %s, with its name", async (_, payload, property) => {
    await world.crm.ensure();
    world.double.portal.properties("contacts").delete(property);
    const { id } = await world.crm.enqueue("create_contact", payload);
    await world.drain();
    const job = await look(id);
    expect(job).toMatchObject({ status: "dead", error: { category: "validation" } });
    expect(job.error?.message).toContain(property);
  });

  it("that is dead is kept for ever", async () => {
    await world.crm.ensure();
    world.double.faults.add({ kind: "unauthorized" });
    const { id } = await pay();
    await world.drain();
    await world.t.advance(400 * 24 * 60 * MINUTE_MS);
    await world.drain();
    expect((await look(id)).status).toBe("dead");
    expect((await world.hf.queues.get("hubspot")).keep).toEqual({ dead: null });
  });

  it("pauses the connection instead, where that is asked for: no job is charged", async () => {
    const paused: string[] = [];
    const calm = await crmWorld({
      ...{ onAuthError: "pause", onPause: ({ message }) => void paused.push(message) },
    });
    await calm.crm.ensure();
    calm.double.faults.add({ kind: "missing_scopes", scopes: ["crm.objects.contacts.write"] });
    const { id } = await calm.crm.enqueue("create_contact", PAYLOADS.create_contact);
    await calm.drain();
    await calm.minutes(10);
    expect(await calm.hf.job(id)).toMatchObject({ status: "queued", attempts: 0 });
    expect(paused).toHaveLength(1);
    expect(paused[0]).toContain("crm.objects.contacts.write");
    const why = await calm.hf.why(id);
    expect(why.summary).toContain("paused");
    await calm.hf.resume("hubspot");
    await calm.minutes(1);
    expect((await calm.hf.job(id))?.status).toBe("succeeded");
    await calm.close();
  });
});

function clockIn(timeZone: string, at: number): string {
  const format = { timeZone, hour: "2-digit", minute: "2-digit" } as const;
  return new Intl.DateTimeFormat("en-GB", format).format(at);
}
