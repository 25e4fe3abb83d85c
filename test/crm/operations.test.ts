/** System 4, table "Queue Table" and step 3: the eight operations, their keys and what they write. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError, PayloadValidationError } from "holdfast";
import { crmWorld, PAYLOADS, type CrmWorld } from "./crm-world.ts";

describe("the operations of system 4", () => {
  let world: CrmWorld;
  beforeEach(async () => {
    world = await crmWorld();
  });
  afterEach(() => world.close());

  const properties = () => world.double.contact("ada@example.com")?.properties;
  const run = async <Name extends keyof typeof PAYLOADS>(name: Name) => {
    const { id } = await world.crm.enqueue(name, PAYLOADS[name] as never);
    await world.drain();
    return (await world.hf.job(id))!;
  };

  it("create_contact finds or creates a contact by its email", async () => {
    const first = await run("create_contact");
    expect(first).toMatchObject({ status: "succeeded", result: { isNew: true } });
    expect(properties()).toMatchObject({ firstname: "Ada", lastname: "Lovelace" });
    const second = await run("create_contact");
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ status: "succeeded", result: { isNew: false } });
    expect(world.double.objects("contacts")).toHaveLength(1);
  });

  it("update_contact writes the status of the membership", async () => {
    await run("create_contact");
    await run("update_contact");
    const written = { membership_status: "active", billing_provider: "stripe", firstname: "Ada" };
    expect(properties()).toMatchObject(written);
  });

  it("sync_tier writes the new tier", async () => {
    await run("sync_tier");
    expect(properties()).toMatchObject({ membership_tier: "Full Member" });
  });

  it("sync_company makes one company by our own id, and its member belongs to it", async () => {
    await run("sync_company");
    await run("sync_company");
    const [company, ...others] = world.double.objects("companies");
    expect(others).toEqual([]);
    expect(company?.properties).toMatchObject({ external_id: "c-7", name: "Engines Ltd" });
    const contact = world.double.contact("ada@example.com")!;
    const linked = world.double.portal.associated("contacts", contact.id, "companies");
    expect(linked).toEqual([company!.id]);
  });

  it.each([
    ["jpy", "12500", "12500 JPY"],
    ["KWD", "12.500", "12.500 KWD"],
    ["gbp", "125.00", "125.00 GBP"],
    ["?", "125.00", "125.00 ?"],
  ])("sync_payment takes the smallest unit of %s", async (currency, units, money) => {
    await world.crm.enqueue("sync_payment", { ...PAYLOADS.sync_payment, currency });
    await world.drain();
    expect(properties()).toMatchObject({ last_payment_amount: units });
    expect(world.double.objects("notes")[0]?.properties["hs_note_body"]).toBe(`Payment: ${money}`);
  });

  it("sync_payment notes the payment once, and on the contact", async () => {
    await run("sync_payment");
    await run("sync_payment");
    const [note, ...others] = world.double.objects("notes");
    expect(others).toEqual([]);
    expect(note?.properties["hs_note_body"]).toBe("Payment: 125.00 USD");
    expect(properties()).toMatchObject({ last_payment_amount: "125.00" });
    const contact = world.double.contact("ada@example.com")!;
    expect(world.double.portal.associated("contacts", contact.id, "notes")).toEqual([note!.id]);
  });

  it("sync_day_pass notes the day pass once, and on the contact", async () => {
    await run("sync_day_pass");
    await run("sync_day_pass");
    expect(world.double.objects("notes")).toHaveLength(1);
    expect(properties()?.["last_day_pass_at"]).toMatch(/^\d{4}-/);
  });

  it.each(["create_deal", "sync_member"] as const)(
    "%s is switched off: logged and skipped",
    async (name) => {
      const job = await run(name);
      expect(job).toMatchObject({ status: "succeeded", result: { skipped: "disabled" } });
      expect(world.double.requests).toEqual([]);
      expect(world.lines.some(({ message }) => message.includes(`${name} is switched off`))).toBe(
        true,
      );
    },
  );

  it("the properties that operations write are ensured once, billing_provider among them", async () => {
    await run("create_contact");
    const made = world.double.portal.properties("contacts").get("billing_provider");
    expect(made).toMatchObject({ type: "enumeration" });
    const unique = world.double.portal.properties("companies").get("external_id");
    expect(unique).toMatchObject({ hasUniqueValue: true });
    const count = world.double.requests.length;
    await run("update_contact");
    expect(world.double.requests).toHaveLength(count + 1);
  });

  it("a job without a priority has 5, and those from 1 to 10 are taken", async () => {
    const { id } = await world.crm.enqueue("create_contact", PAYLOADS.create_contact);
    expect((await world.hf.job(id))?.priority).toBe(5);
    const urgent = await world.crm.enqueue("sync_tier", PAYLOADS.sync_tier, { priority: 1 });
    expect((await world.hf.job(urgent.id))?.priority).toBe(1);
  });

  it.each([
    ["create_contact", "member_creation_ada@example.com"],
    ["sync_tier", "tier_sync_ada@example.com_Day_Pass_to_Full_Member"],
    ["sync_payment", "payment_sync_pi_1"],
    ["sync_day_pass", "day_pass_sync_pi_2"],
  ] as const)("%s has the key %s", async (name, key) => {
    const { id } = await world.crm.enqueue(name, PAYLOADS[name] as never);
    expect((await world.hf.job(id))?.idempotencyKey).toBe(key);
  });

  it("a pending, a processing and a retrying job of the same key return their id; a finished one does not", async () => {
    const enqueue = () =>
      world.crm.enqueue("sync_payment", { ...PAYLOADS.sync_payment, amountCents: 1 });
    const first = await world.crm.enqueue("sync_payment", PAYLOADS.sync_payment);
    expect(await enqueue()).toMatchObject({ id: first.id, status: "duplicate" });
    world.double.faults.add({ kind: "status", status: 503, path: "/crm/objects/" });
    await world.drain();
    expect(await world.hf.job(first.id)).toMatchObject({ status: "queued", attempts: 1 });
    expect(await enqueue()).toMatchObject({ id: first.id, status: "duplicate" });
    await world.minutes(3);
    expect((await world.hf.job(first.id))?.status).toBe("succeeded");
    expect((await enqueue()).id).not.toBe(first.id);
  });

  describe("bad input gets a typed error", () => {
    it("an unknown operation, with the one that was meant", async () => {
      const { crm } = world;
      await expect(crm.enqueue("sync_teir" as "sync_tier", PAYLOADS.sync_tier)).rejects.toThrow(
        /did you mean "sync_tier"/,
      );
      await expect(crm.enqueue("x" as "sync_tier", PAYLOADS.sync_tier)).rejects.toBeInstanceOf(
        InvalidOptionError,
      );
    });

    it("a payload without an email, with the field named", async () => {
      const asked = world.crm.enqueue("create_contact", { firstName: "Ada" } as never);
      await expect(asked).rejects.toBeInstanceOf(PayloadValidationError);
      await expect(asked).rejects.toThrow(/email/);
    });

    it("a field that the operation does not have", async () => {
      const payload = { ...PAYLOADS.sync_tier, teir: "x" };
      await expect(world.crm.enqueue("sync_tier", payload)).rejects.toThrow(/teir/);
    });

    it("an invalid tier, where the tiers are named", async () => {
      const other = await crmWorld({ tiers: ["Core", "Premium"] });
      const payload = { email: "ada@example.com", newTier: "Gold" };
      await expect(other.crm.enqueue("sync_tier", payload)).rejects.toThrow(/one of Core, Premium/);
      await other.close();
    });

    it.each([0, 11, 2.5])("a priority of %s", async (priority) => {
      const asked = world.crm.enqueue("sync_tier", PAYLOADS.sync_tier, { priority });
      await expect(asked).rejects.toThrow(/from 1 to 10/);
    });

    it("an unknown option, with the one that was meant", async () => {
      const options = { prioritty: 1 } as never;
      const asked = world.crm.enqueue("sync_tier", PAYLOADS.sync_tier, options);
      await expect(asked).rejects.toThrow(/did you mean "priority"/);
    });
  });

  it("an operation that is enabled runs", async () => {
    const other = await crmWorld({ enable: ["create_deal", "sync_member"] });
    await other.crm.enqueue("create_deal", PAYLOADS.create_deal);
    await other.crm.enqueue("sync_member", PAYLOADS.sync_member);
    await other.drain();
    const [deal] = other.double.objects("deals");
    expect(deal?.properties).toMatchObject({ external_id: "d-1", amount: "1200.00" });
    const contact = other.double.contact("ada@example.com");
    expect(contact?.properties).toMatchObject({ membership_tier: "Full Member" });
    await other.close();
  });
});
