/** System 4, step 2: which jobs are claimed, and in which order; and the order of one record. */
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../packages/holdfast/src/testing/seeded-random.ts";
import { crmWorld, type CrmWorld } from "./crm-world.ts";

/** System 4's own statement, but for the locks, which SQLite does not need. */
const CLAIM = `
  UPDATE hubspot_sync_queue SET status = 'processing'
  WHERE id IN (
    SELECT id FROM hubspot_sync_queue
    WHERE (status = 'pending' OR (status = 'failed' AND next_retry_at <= :now))
    ORDER BY priority ASC, created_at ASC
    LIMIT 20)
  RETURNING id, priority, created_at`;

describe("jobs of a sync are claimed", () => {
  let world: CrmWorld;
  beforeEach(async () => {
    world = await crmWorld({ limits: { breaker: null } });
  });
  afterEach(() => world.close());

  it("in the order of system 4's SQL: priority, then age, failed ones once their retry is due", async () => {
    const { crm, hf, t } = world;
    await crm.ensure();
    const random = seededRandom(7);
    const table = new DatabaseSync(":memory:");
    table.exec(`CREATE TABLE hubspot_sync_queue (id TEXT, status TEXT, priority INTEGER,
      created_at INTEGER, next_retry_at INTEGER)`);
    const add = async (at: number) => {
      const priority = 1 + Math.floor(random() * 10);
      const email = `n${at}@example.com`;
      await crm.enqueue("create_contact", { email }, { priority });
      await t.advance(1);
    };
    for (let at = 0; at < 8; at += 1) {
      t.fail("hubspot.create_contact", Object.assign(new Error("away"), { status: 503 }));
      await add(at);
    }
    await world.drain();
    // Some of the failed ones become due, others do not.
    for (let at = 8; at < 50; at += 1) {
      if (at === 30) await t.advance(2 * 60_000 - 20);
      await add(at);
    }
    const insert = table.prepare("INSERT INTO hubspot_sync_queue VALUES (?, ?, ?, ?, ?)");
    const { jobs } = await hf.jobs({ queue: "hubspot", status: "queued", limit: 200 });
    for (const { id, priority, createdAt, attempts, runAt } of jobs) {
      const status = attempts > 0 ? "failed" : "pending";
      insert.run(id, status, priority, createdAt.getTime(), runAt.getTime());
    }
    const expected: string[] = [];
    for (;;) {
      const rows = table.prepare(CLAIM).all({ now: t.now() }) as {
        id: string;
        priority: number;
        created_at: number;
      }[];
      if (rows.length === 0) break;
      const sorted = rows.toSorted(
        (a, b) => a.priority - b.priority || a.created_at - b.created_at,
      );
      expected.push(...sorted.map(({ id }) => id));
    }
    expect(expected.length).toBeGreaterThan(40);
    const started: string[] = [];
    hf.on("started", ({ id, queue }) => void (queue === "hubspot" && started.push(id)));
    await world.drain();
    expect(started).toEqual(expected);
  });

  it("one at a time for a record, in the order of their enqueues, also past a retry", async () => {
    const { crm, double, hf } = world;
    await crm.ensure();
    const email = "ada@example.com";
    double.faults.add({ kind: "status", status: 500, path: "/contacts/" });
    const statuses = ["trialing", "active", "past_due", "cancelled"];
    const ids: string[] = [];
    for (const [at, status] of statuses.entries()) {
      // The later, the more urgent: none overtakes.
      const { id } = await crm.enqueue("update_contact", { email, status }, { priority: 9 - at });
      ids.push(id);
    }
    await world.drain();
    const attempts = await Promise.all(ids.map(async (id) => (await hf.job(id))?.attempts));
    expect(attempts).toEqual([1, 0, 0, 0]);
    for (let minute = 0; minute < 6; minute += 1) await world.minutes(1);
    const written = double.requests.flatMap(({ path, body, status }) =>
      path.endsWith("contacts/batch/upsert") && status === 200 ? [statusOf(body)] : [],
    );
    expect(written).toEqual(statuses);
    expect(double.contact(email)?.properties["membership_status"]).toBe("cancelled");
    for (const id of ids) expect((await hf.job(id))?.status).toBe("succeeded");
  });

  it("for a record at last, once the one in front of it is dead", async () => {
    const { crm, double, hf } = world;
    await crm.ensure();
    const email = "ada@example.com";
    double.faults.add({ kind: "unauthorized" });
    const first = await crm.enqueue("update_contact", { email, status: "active" });
    const second = await crm.enqueue("update_contact", { email, status: "paused" });
    await world.drain();
    await world.minutes(1);
    expect((await hf.job(first.id))?.status).toBe("dead");
    expect((await hf.job(second.id))?.status).toBe("succeeded");
  });

  it("in order where they are enqueued at once, each with an answer of its own", async () => {
    const { crm, double } = world;
    await crm.ensure();
    const email = "ada@example.com";
    const answers = await crm.enqueueAll([
      { operation: "update_contact", payload: { email, status: "trialing" } },
      { operation: "update_contact", payload: { email: "no address", status: "active" } },
      { operation: "update_contact", payload: { email, status: "active" } },
      { operation: "sync_tier", payload: { email: "bob@example.com", newTier: "Core" } },
    ]);
    expect(answers.map((one) => ("error" in one ? one.error.name : one.status))).toEqual([
      ...["added", "PayloadValidationError", "added", "added"],
    ]);
    await world.drain();
    await world.minutes(1);
    expect(double.contact(email)?.properties["membership_status"]).toBe("active");
    expect(double.contact("bob@example.com")).not.toBeNull();
  });
});

function statusOf(body: unknown): string | undefined {
  const { inputs } = body as { inputs: { properties: Record<string, string> }[] };
  return inputs[0]?.properties["membership_status"];
}
