/** A dead job that a person retries after newer ones of its record have succeeded never sets an old state back. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crmWorld, PAYLOADS, type CrmWorld } from "./crm-world.ts";

const email = "ada@example.com";

describe("a dead job that is retried by hand", () => {
  let world: CrmWorld;
  beforeEach(async () => {
    world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
  });
  afterEach(() => world.close());

  type Name = keyof typeof PAYLOADS;
  const dies = async (name: Name, payload: unknown) => {
    world.double.faults.add({ kind: "unauthorized" });
    const { id } = await world.crm.enqueue(name, payload as never);
    await world.drain();
    expect((await world.hf.job(id))?.status).toBe("dead");
    return id;
  };
  const runs = async (name: Name, payload: unknown) => {
    const { id } = await world.crm.enqueue(name, payload as never);
    await world.drain();
    await world.minutes(1);
    expect((await world.hf.job(id))?.status).toBe("succeeded");
  };
  const retry = async (id: string) => {
    await world.hf.retry(id, { by: "ops", reason: "the token is right now" });
    await world.drain();
    await world.minutes(1);
    return (await world.hf.job(id))!;
  };
  const properties = () => world.double.contact(email)?.properties;

  it("is skipped as superseded, says so, and calls nobody, once a newer one has written the same", async () => {
    const old = await dies("update_contact", { email, status: "trialing" });
    await runs("update_contact", { email, status: "active" });
    const before = world.double.requests.length;
    expect(await retry(old)).toMatchObject({
      ...{ status: "succeeded", result: { skipped: "superseded", values: ["membership_status"] } },
    });
    expect(world.double.requests).toHaveLength(before);
    expect(properties()).toMatchObject({ membership_status: "active" });
    const said = world.lines.filter(({ message }) => message.includes("leaves that alone"));
    expect(said[0]?.message).toContain(`update_contact ${old}`);
  });

  it("runs where nothing newer has written the same", async () => {
    const old = await dies("sync_tier", PAYLOADS.sync_tier);
    await runs("update_contact", { email, status: "active" });
    expect((await retry(old)).result).not.toHaveProperty("skipped");
    expect(properties()).toMatchObject({
      ...{ membership_tier: "Full Member", membership_status: "active" },
    });
  });

  it("writes what is still its own, and leaves the rest", async () => {
    const old = await dies("create_contact", { email, firstName: "Ada", status: "trialing" });
    await runs("update_contact", { email, status: "active" });
    expect((await retry(old)).status).toBe("succeeded");
    expect(properties()).toMatchObject({ firstname: "Ada", membership_status: "active" });
  });

  it("notes its payment, and leaves the newer one as the last", async () => {
    const old = await dies("sync_payment", PAYLOADS.sync_payment);
    await runs("sync_payment", { paymentIntentId: "pi_9", email, amountCents: 900 });
    expect((await retry(old)).status).toBe("succeeded");
    expect(properties()).toMatchObject({ last_payment_amount: "9.00" });
    const notes = world.double
      .objects("notes")
      .map((note) => String(note.properties["hs_note_body"]));
    expect(notes.toSorted()).toEqual(["Payment: 125.00 USD", "Payment: 9.00 USD"]);
  });

  it("links its company, and leaves the newer name", async () => {
    const old = await dies("sync_company", PAYLOADS.sync_company);
    await runs("sync_company", { companyId: "c-7", name: "Analytical Engines" });
    expect((await retry(old)).status).toBe("succeeded");
    const [company, ...others] = world.double.objects("companies");
    expect(others).toEqual([]);
    expect(company?.properties).toMatchObject({ name: "Analytical Engines" });
    const contact = world.double.contact(email)!;
    const linked = world.double.portal.associated("contacts", contact.id, "companies");
    expect(linked).toEqual([company!.id]);
  });

  it("keeps its place while those behind it have not started", async () => {
    world.double.faults.add({ kind: "unauthorized" });
    const first = await world.crm.enqueue("update_contact", { email, status: "trialing" });
    const later = { delayMs: 600_000 };
    const next = await world.crm.enqueue("update_contact", { email, status: "active" }, later);
    await world.drain();
    expect((await world.hf.job(first.id))?.status).toBe("dead");
    expect((await retry(first.id)).result).not.toHaveProperty("skipped");
    expect(properties()).toMatchObject({ membership_status: "trialing" });
    await world.minutes(11);
    await world.minutes(1);
    expect((await world.hf.job(next.id))?.status).toBe("succeeded");
    expect(properties()).toMatchObject({ membership_status: "active" });
  });
});

describe("the last tier that was asked for stays", () => {
  it("also where it was asked for before: the job that waits for it goes to the end", async () => {
    const world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
    const up = { email, oldTier: "Core", newTier: "Premium" };
    const down = { email, oldTier: "Premium", newTier: "Core" };
    const first = await world.crm.enqueue("sync_tier", up);
    await world.crm.enqueue("sync_tier", down);
    const again = await world.crm.enqueue("sync_tier", up);
    expect(again).toMatchObject({ id: first.id, status: "duplicate" });
    await world.drain();
    await world.minutes(1);
    expect(world.double.contact(email)?.properties["membership_tier"]).toBe("Premium");
    await world.close();
  });

  it("also where the older one was stored inside of a transaction, and runs later", async () => {
    const world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
    // As `hf.within(tx)` stores it: without a place in the order of its record.
    const item = world.crm.item("sync_tier", { email, newTier: "Core" }, { delayMs: 60_000 });
    const { type: _type, payload, contract, ...options } = item;
    const old = await world.hf.enqueue(contract!, payload, options);
    await world.t.advance(1_000);
    await world.crm.enqueue("sync_tier", { email, newTier: "Premium" });
    await world.drain();
    await world.minutes(2);
    expect((await world.hf.job(old.id))?.result).toMatchObject({ skipped: "superseded" });
    expect(world.double.contact(email)?.properties["membership_tier"]).toBe("Premium");
    await world.close();
  });
});
