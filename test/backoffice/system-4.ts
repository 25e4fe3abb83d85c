/** System 4 over HTTP, on whatever stores: what changes in the business is in the CRM, also after it was away. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { CrmOffice, WAIT, type CrmJob } from "./crm-office.ts";
import { HARBOUR, NORTHWIND, type Env, type Office } from "./office.ts";

export function systemFour(env: () => Promise<Env>): void {
  let crm: CrmOffice;
  let office: Office;
  beforeAll(async () => {
    crm = await CrmOffice.open(await env());
    office = crm.office;
  });
  afterEach(() => crm?.double.faults.clear());
  afterAll(() => crm?.close());

  const PAYMENTS = `/api/companies/${NORTHWIND}/payments`;
  const jobsOf = async () => (await office.get("staff", "/api/queue/stats?queue=hubspot")).body;

  it("brings a member who joins to the CRM, under the company, by system 4's key", async () => {
    const joined = await crm.join("Joy.New@crm.example", { firstName: "Joy", phone: "+49 1" });
    expect(joined.crm.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      ...["create_contact added", "sync_company added"],
    ]);
    expect(await crm.ends(joined.crm)).toEqual(["succeeded", "succeeded"]);
    expect(crm.properties("joy.new@crm.example")).toMatchObject({
      ...{ firstname: "Joy", phone: "+49 1", membership_tier: "basic" },
      membership_status: "active",
    });
    const [company] = crm.double.objects("companies");
    expect(company?.properties).toMatchObject({ external_id: NORTHWIND, name: "Northwind Bakery" });
    const job = await office.hf.job(joined.crm[0]!.jobId);
    expect(job).toMatchObject({ type: "hubspot.create_contact", queue: "hubspot", priority: 3 });
    expect(job?.idempotencyKey).toBe("member_creation_joy.new@crm.example");
    const shown = await office.get("staff", "/api/crm/contacts/joy.new@crm.example");
    expect(shown.body.properties).toMatchObject({ firstname: "Joy", membership_tier: "basic" });
    expect((await office.get("staff", "/api/crm/contacts/no@crm.example")).status).toBe(404);
  });

  it("ends with the last of changes that went back and forth while jobs waited", async () => {
    const { memberId, crm: first } = await crm.join("back@crm.example");
    expect(await crm.ends(first)).toEqual(["succeeded", "succeeded"]);
    await crm.pause();
    const changes = [
      ...[{ tier: "plus" }, { tier: "basic" }, { tier: "plus" }, { phone: "1" }],
      ...[{ phone: "2", status: "paused" }],
    ];
    const jobs: CrmJob[] = [];
    for (const change of changes) {
      const answer = await crm.edit(memberId, change);
      expect(answer.status).toBe(200);
      jobs.push(...(answer.body.crm as CrmJob[]));
    }
    const [, , third] = jobs;
    expect(third).toMatchObject({ operation: "sync_tier", status: "added" });
    expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(6);
    const key = (await office.hf.job(jobs[0]!.jobId))?.idempotencyKey;
    expect(key).toBe("tier_sync_back@crm.example_basic_to_plus");
    await crm.resume();
    expect(new Set(await crm.ends(jobs))).toEqual(new Set(["succeeded"]));
    const { body } = await office.get("viewer", `/api/companies/${NORTHWIND}/members/${memberId}`);
    expect(body).toMatchObject({ tier: "plus", phone: "2", status: "paused" });
    expect(crm.properties("back@crm.example")).toMatchObject({
      ...{ membership_tier: "plus", phone: "2", membership_status: "paused" },
    });
  });

  it("brings payments and day passes, each once, by their keys", async () => {
    const { memberId, crm: first } = await crm.join("payer@crm.example");
    await crm.ends(first);
    const pay = { id: "pi_900", memberId, kind: "payment", amount: 125.5, description: "Fee" };
    const paid = await office.post("staff", PAYMENTS, pay);
    expect(paid).toMatchObject({ status: 201, body: { payment: { currency: "EUR" } } });
    const pass = { id: "pi_901", memberId, kind: "day_pass", amount: 25 };
    const passed = await office.post("staff", PAYMENTS, pass);
    const jobs = [...(paid.body.crm as CrmJob[]), ...(passed.body.crm as CrmJob[])];
    expect(jobs.map(({ operation }) => operation)).toEqual(["sync_payment", "sync_day_pass"]);
    expect(await crm.ends(jobs)).toEqual(["succeeded", "succeeded"]);
    const keys = jobs.map(async ({ jobId }) => (await office.hf.job(jobId))?.idempotencyKey);
    expect(await Promise.all(keys)).toEqual(["payment_sync_pi_900", "day_pass_sync_pi_901"]);
    expect((await office.post("staff", PAYMENTS, pay)).status).toBe(409);
    const notes = crm.double.objects("notes").map(({ properties }) => properties["hs_note_body"]);
    expect(notes.toSorted()).toEqual(["Day pass: 25.00 EUR", "Fee: 125.50 EUR"]);
    expect(crm.properties("payer@crm.example")).toMatchObject({ last_payment_amount: "125.50" });
  });

  it("keeps a change and its jobs together where they share a database, and says where not", async () => {
    const about = await office.get("staff", "/api/crm");
    const isApart = (await office.hf.info()).name === "redis";
    expect(about.body).toEqual({
      ...{ crm: "hubspot", queue: "hubspot", target: "hubspot", together: !isApart },
    });
    await crm.pause();
    const limits = "/api/v1/queues/hubspot/limits";
    expect((await office.send("staff", "PATCH", limits, { maxWaiting: 1 })).status).toBe(200);
    // A new member is two jobs, and only one may wait.
    const body = { email: "full@crm.example", tier: "basic" };
    const answer = await office.post("staff", `/api/companies/${NORTHWIND}/members`, body);
    const members = await office.data.count("members", { email: body.email });
    const { pending } = await jobsOf();
    expect((await office.send("staff", "PATCH", limits, { maxWaiting: null })).status).toBe(200);
    if (isApart) {
      expect(answer).toMatchObject({ status: 201, body: { crm: [{}, { status: "missed" }] } });
      expect([members, pending]).toEqual([1, 1]);
    } else {
      expect([answer.status, members, pending]).toEqual([429, 0, 0]);
    }
    await crm.resume();
    expect((await office.post("admin", "/api/crm/resync")).status).toBe(202);
    const idle = async () => (await jobsOf()).pending + (await jobsOf()).processing;
    await expect.poll(idle, WAIT).toBe(0);
    await crm.isInStep();
    // Of the sample, too.
    expect(crm.properties("ada.byron@people.example")).toMatchObject({ membership_tier: "basic" });
  });

  it("survives an outage: the breaker opens, jobs wait, and the CRM equals the members in the end", async () => {
    crm.double.faults.add({ kind: "status", status: 503, times: Infinity });
    const jobs: CrmJob[] = [];
    for (let at = 0; at < 10; at += 1) {
      const joined = await crm.join(`late${at}@crm.example`, { phone: `+49 ${at}` });
      jobs.push(...joined.crm);
    }
    const circuit = async () =>
      (await office.get("viewer", "/api/health")).body.circuit.hubspot as string;
    await expect.poll(circuit, WAIT).toBe("open");
    const { body: monitor } = await office.get("staff", "/api/queue/monitor?queue=hubspot");
    expect(monitor.failed.length + (await jobsOf()).dead).toBeGreaterThan(0);
    crm.double.faults.clear();
    const dead = (await crm.ends(jobs)).filter((status) => status === "dead");
    if (dead.length > 0) await replayAll();
    expect(new Set(await crm.ends(jobs))).toEqual(new Set(["succeeded"]));
    await expect.poll(circuit, WAIT).toBe("closed");
    await crm.isInStep();
    const emails = crm.double.objects("contacts").map(({ properties }) => properties["email"]);
    expect(new Set(emails).size).toBe(emails.length);
  });

  it("gives up at once when its token is refused, tells staff, and a replay mends it", async () => {
    crm.double.faults.add({ kind: "missing_scopes", scopes: ["crm.objects.contacts.write"] });
    const { memberId, crm: first } = await crm.join("scopes@crm.example");
    expect((await crm.ends(first)).toSorted()).toContain("dead");
    const dead = await office.get("staff", "/api/v1/dead-letters?queue=hubspot");
    expect(dead.body.data.items).toMatchObject([{ attempts: 1, queue: "hubspot" }]);
    await office.hf.alerts.look();
    const mails = async () =>
      ((await office.get("staff", "/api/outbox")).body as Record<string, string>[]).filter(
        ({ subject }) => subject?.startsWith("integration_error"),
      );
    await expect.poll(async () => (await mails()).length, WAIT).toBe(2);
    const [{ body = "" } = {}] = await mails();
    for (const word of [dead.body.data.items[0].id as string, "Retries: 0", "private-apps"]) {
      expect(body).toContain(word);
    }
    await replayAll();
    await crm.ends(first);
    expect(crm.properties("scopes@crm.example")).toMatchObject({ membership_tier: "basic" });
    expect(memberId).not.toBe("");
    const audit = async () => JSON.stringify((await office.get("admin", "/api/v1/audit")).body);
    await expect.poll(audit, WAIT).toContain("staff@backoffice.example");
  });

  it("gives up after five retries, and keeps the last error", async () => {
    const path = /contacts\/batch\/upsert/;
    crm.double.faults.add({ kind: "status", status: 500, times: 6, path });
    const payload = { email: "never@crm.example", status: "active" };
    const sent = { operation: "update_contact", payload };
    const { body, status } = await office.post("staff", "/api/crm/jobs", sent);
    expect([status, body.status]).toEqual([202, "added"]);
    expect(await crm.ends([body as CrmJob])).toEqual(["dead"]);
    const job = await office.hf.job(body.jobId as string);
    expect(job).toMatchObject({ attempts: 6, maxAttempts: 6, priority: 5 });
    expect(job?.error?.message).toContain("500");
    await replayAll();
    expect(await crm.ends([body as CrmJob])).toEqual(["succeeded"]);
  });

  it("skips what is switched off, and takes a key twice for one job", async () => {
    const deal = { operation: "create_deal", payload: { dealId: "d1", name: "Deal" } };
    const sent = await office.done(await office.post("staff", "/api/crm/jobs", deal));
    expect(sent).toMatchObject({ status: "succeeded", result: { skipped: "disabled" } });
    await crm.pause();
    const payload = { paymentIntentId: "pi_7", email: "pay@crm.example", amountCents: 100 };
    const pay = { operation: "sync_payment", payload, priority: 1 };
    const once = await office.post("staff", "/api/crm/jobs", pay);
    const twice = await office.post("staff", "/api/crm/jobs", pay);
    expect([once.body.status, twice.body.status]).toEqual(["added", "duplicate"]);
    expect(twice.body.jobId).toBe(once.body.jobId);
    const { body } = await office.get("staff", "/api/crm/monitor");
    expect(body).toMatchObject({ counts: { pending: 1, processing: 0, failed: 0 } });
    expect(body.queueLagMs).toBeGreaterThanOrEqual(0);
    expect(body.averageProcessingMs).toBeGreaterThanOrEqual(0);
    expect((await office.get("staff", "/api/crm/stats")).body).toMatchObject({ pending: 1 });
    await crm.resume();
    expect(await crm.ends([once.body as CrmJob])).toEqual(["succeeded"]);
  });

  it("refuses roles too low, other companies, tokens that are none and bodies that do not fit", async () => {
    const members = `/api/companies/${NORTHWIND}/members`;
    const harbour = `/api/companies/${HARBOUR}/members`;
    const body = { email: "x@crm.example", tier: "basic" };
    const [foreign] = await office.data.find("members", { companyId: HARBOUR });
    const asked: [number, ReturnType<Office["send"]>][] = [
      [403, office.post("viewer", members, body)],
      [403, office.send("viewer", "PATCH", `${members}/M-1`, { tier: "plus" })],
      [403, office.post("viewer", PAYMENTS, {})],
      [404, office.get("owner", harbour)],
      [404, office.post("owner", harbour, body)],
      [404, office.send("owner", "PATCH", `${members}/${foreign?.id}`, { tier: "plus" })],
      [404, office.get("owner", `${members}/${foreign?.id}`)],
      [403, office.get("owner", "/api/crm/stats")],
      [403, office.get("viewer", "/api/crm/monitor")],
      [403, office.post("staff", "/api/crm/resync")],
      [401, office.ask("GET", "/api/crm", {})],
      [401, office.ask("POST", members, { body, token: "nonsense" })],
      [422, office.post("staff", members, { ...body, email: "no mail" })],
      [422, office.post("staff", members, { ...body, status: "gone" })],
      [422, office.post("staff", members, [])],
      [422, office.send("staff", "PATCH", `${members}/M-1`, {})],
      [422, office.send("staff", "PATCH", `${members}/M-1`, { email: "new@crm.example" })],
      [422, office.post("staff", "/api/crm/jobs", { operation: "sync_tear", payload: {} })],
      [422, office.post("staff", "/api/crm/jobs", { operation: "sync_tier", payload: {} })],
      [409, office.post("staff", members, { ...body, email: "ada.byron@people.example" })],
    ];
    const got = await Promise.all(asked.map(async ([, answer]) => (await answer).status));
    expect(got).toEqual(asked.map(([status]) => status));
    const pay = { id: "pi_x", memberId: foreign?.id, kind: "payment", amount: 1 };
    expect((await office.post("staff", PAYMENTS, pay)).status).toBe(404);
    const wrong = await office.post("staff", PAYMENTS, { ...pay, kind: "gift", amount: -1 });
    expect(wrong.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      ...["kind", "amount"],
    ]);
  });

  async function replayAll(): Promise<void> {
    const body = { queue: "hubspot", reason: "the CRM is back", useFullRetry: true };
    const answer = await office.post("staff", "/api/v1/dead-letters/replay", body);
    expect(answer).toMatchObject({ status: 201 });
    await expect.poll(async () => (await jobsOf()).dead as number, WAIT).toBe(0);
  }
}
