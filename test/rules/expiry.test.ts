/** A job that is too late is cancelled when its turn comes, instead of run. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError, type EnqueueOptions } from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

describe.each(EVERY_STORE)("expiry on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("a job past its time is cancelled with the reason expired instead of run", async () => {
    // Their clock says nothing: the store's does.
    const { hf } = world.process({ wallSkewMs: 3_600_000 });
    const ran: unknown[] = [];
    hf.handle("work", (job) => {
      ran.push(job.payload);
      expect(job.meta).toEqual(job.payload === "with" ? { tenant: 7 } : null);
    });
    await hf.pause("default");
    const enqueue = (payload: string, options: EnqueueOptions) =>
      hf.enqueue("work", payload, { queue: "default", ...options });
    const late = await enqueue("late", { expiresAfterMs: 5_000 });
    const lateToo = await enqueue("late too", { expiresAt: new Date(world.time.now + 5_000) });
    const early = await enqueue("early", { expiresAfterMs: 60_000 });
    await enqueue("with", { expiresAfterMs: 60_000, meta: { tenant: 7 } });
    expect(await hf.job(late.id)).toMatchObject({
      ...{ status: "queued", meta: null, expiresAt: new Date(world.time.now + 5_000) },
    });
    await world.advance(6_000);
    await hf.resume("default");
    await hf.work();
    await world.advance(1_000);
    expect(ran).toEqual(["early", "with"]);
    for (const { id } of [late, lateToo]) {
      expect(await hf.job(id)).toMatchObject({ status: "cancelled", reason: "expired" });
    }
    expect((await hf.job(early.id))?.status).toBe("succeeded");
  });

  it("a retry that comes too late is not run either", async () => {
    const { hf } = world.process();
    let runs = 0;
    hf.handle("work", () => {
      runs += 1;
      throw new Error("not yet");
    });
    const { id } = await hf.enqueue("work", null, { queue: "default", expiresAfterMs: 500 });
    await hf.work();
    await world.advance(3_000);
    expect(runs).toBe(1);
    expect(await hf.job(id)).toMatchObject({ status: "cancelled", reason: "expired" });
  });

  it("an expiry that is none is refused", async () => {
    const { hf } = world.process();
    const refused = async (options: unknown, message: RegExp) => {
      const given = { queue: "default", ...(options as EnqueueOptions) };
      const enqueued = hf.enqueue("work", null, given);
      await expect(enqueued).rejects.toThrow(InvalidOptionError);
      await expect(hf.enqueue("work", null, given)).rejects.toThrow(message);
    };
    await refused({ expiresAfterMs: 0 }, /expiresAfterMs/);
    await refused({ expiresAt: 5 }, /new Date/);
    await refused({ expiresAt: new Date(), expiresAfterMs: 5 }, /not both/);
    await refused({ expiresAfter: 5 }, /expiresAfterMs/);
    await refused({ meta: { holdfast: {} } }, /kept for Holdfast/);
  });
});
