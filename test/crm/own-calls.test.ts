/** What an application does beside the operations: calls of its own, and a job beside one of the same key. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EXTERNAL_ID, hubspotSync } from "@holdfast/crm";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { crmWorld, type CrmWorld } from "./crm-world.ts";

const email = "ada@example.com";

describe("an application that has a sync", () => {
  let world: CrmWorld;
  beforeEach(async () => {
    world = await crmWorld({ externalIds: ["tasks", "tasks"] });
  });
  afterEach(() => world.close());

  it("calls by its client, behind its gates, once all that must be there is", async () => {
    const client = await world.crm.client();
    const properties = { hs_timestamp: "2026-11-18T06:00:00Z", hs_task_subject: "Call Ada" };
    const input = { idProperty: EXTERNAL_ID, id: "t-1", properties };
    const first = await client.upsertOne("tasks", input);
    expect((await client.upsertOne("tasks", input)).id).toBe(first.id);
    expect(world.double.objects("tasks")).toHaveLength(1);
    expect(await world.hf.gates.get("hubspot.calls")).not.toBeNull();
    expect(await world.crm.client()).toBe(client);
  });

  it("has a job of its own beside one of the same key, if it says so, and the younger value stays", async () => {
    const tier = (oldTier: string, newTier: string) => ({ email, oldTier, newTier });
    const there = await world.crm.enqueue("sync_tier", tier("a", "b"));
    const back = await world.crm.enqueue("sync_tier", tier("b", "a"));
    const items = [world.crm.item("sync_tier", tier("a", "b"), { again: true })];
    await world.t.advance(10);
    const [again] = await world.hf.enqueueAll(items);
    expect(again).toMatchObject({ status: "added" });
    await world.drain();
    // One after the other: each looks whether those in front of it are done.
    for (let minute = 0; minute < 3; minute += 1) await world.minutes(1);
    for (const { id } of [there, back, again as typeof there]) {
      expect((await world.hf.job(id))?.status).toBe("succeeded");
    }
    expect(world.double.contact(email)?.properties).toMatchObject({ membership_tier: "b" });
    const wrong = { again: 1 } as never;
    expect(() => world.crm.item("sync_tier", tier("a", "b"), wrong)).toThrow("again is");
  });

  it("is told of an object that HubSpot does not have", () => {
    const externalIds = ["people"] as never;
    expect(() => hubspotSync({ token: "pat-eu1-x", externalIds })).toThrow("externalIds takes");
  });

  it("leaves jobs to cycles where a worker names no queues", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    hubspotSync({ token: "pat-eu1-x", cycles: true }).attach(hf);
    expect(hf.tools.workQueues()).toEqual(["hubspot.cycles"]);
    await hf.close();
  });
});
