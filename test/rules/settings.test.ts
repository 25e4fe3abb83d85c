/** Settings of a queue live in the store: every process obeys them, and is told where its code differs. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../packages/holdfast/src/index.ts";
import { openWorld, STORES, type ProcessOptions, type World } from "./world.ts";

const DAY_MS = 86_400_000;
const NONE = { maxAgeMs: 0 };

describe.each(STORES)("settings of queues on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  async function worker(options: ProcessOptions = {}) {
    const process = world.process(options);
    process.hf.handle("work", () => {});
    await process.hf.work({ queues: ["mail"] });
    return process;
  }

  /** Is a job of this queue kept once it has succeeded? */
  async function isKept(hf: Awaited<ReturnType<typeof worker>>["hf"]): Promise<boolean> {
    const { id } = await hf.enqueue("work", null, { queue: "mail" });
    await world.advance(500);
    return (await hf.job(id)) !== null;
  }

  it("what is set for a queue holds in every process, and for those that come later", async () => {
    const working = await worker();
    const ops = world.process({ ledger: "store" });
    expect(await isKept(working.hf)).toBe(true);
    await ops.hf.queues.set("mail", { keep: { succeeded: NONE }, maxActive: 3 }, { by: "ops" });
    expect(await ops.hf.queues.get("mail")).toEqual({
      ...{ queue: "mail", keep: { succeeded: NONE } },
      ...{ maxActive: 3, maxActivePerGroup: null, maxWaiting: null, overflow: "wait" },
      agingMs: null,
    });
    await world.advance(6_000);
    expect(await isKept(working.hf)).toBe(false);
    await working.hf.close();
    const later = await worker({ retention: { queues: { mail: { succeeded: null } } } });
    expect(await isKept(later.hf)).toBe(false);
    expect(later.said.join()).toMatch(/store says otherwise.*succeeded of mail/);
    const { entries } = await ops.hf.ledger({ kind: "audit", queue: "mail" });
    expect(entries[0]?.body).toMatchObject({ action: "set queue", by: "ops" });
  });

  it("a setting that is cleared leaves the general rule", async () => {
    const { hf } = await worker();
    await hf.queues.set("mail", { keep: { succeeded: NONE, dead: null } });
    await hf.queues.set("mail", { keep: { succeeded: { maxAgeMs: DAY_MS } }, maxActive: 2 });
    expect(await hf.queues.get("mail")).toMatchObject({
      ...{ keep: { succeeded: { maxAgeMs: DAY_MS }, dead: null }, maxActive: 2 },
    });
    await hf.queues.set("mail", { keep: null, maxActive: null });
    expect(await hf.queues.get("mail")).toMatchObject({ keep: {}, maxActive: null });
  });

  it("of two programs the one with the higher appVersion says how long jobs are kept", async () => {
    const newer = await worker({ appVersion: "2.10.0", retention: { succeeded: null } });
    const older = await worker({ appVersion: "2.9.0", retention: { succeeded: NONE } });
    expect(newer.said.join()).not.toMatch(/store says otherwise/);
    expect(older.said.join()).toMatch(/store says otherwise.*succeeded/);
    await newer.hf.close();
    expect(await isKept(older.hf)).toBe(true);
    const newest = await worker({ appVersion: "2.11.0", retention: { succeeded: NONE } });
    await world.advance(6_000);
    expect(await isKept(older.hf)).toBe(false);
    expect(newest.said.join()).not.toMatch(/store says otherwise/);
  });

  it("a program that says nothing about retention obeys the one that does", async () => {
    const saying = await worker({ retention: { succeeded: NONE } });
    await saying.hf.close();
    const silent = await worker();
    expect(await isKept(silent.hf)).toBe(false);
    expect(silent.said.join()).not.toMatch(/store says otherwise/);
  });

  it("a setting that is none is refused with what would be one", async () => {
    const { hf } = world.process();
    const refused = async (settings: unknown, message: RegExp) => {
      const setting = hf.queues.set("mail", settings as object);
      await expect(setting).rejects.toThrow(InvalidOptionError);
      await expect(hf.queues.set("mail", settings as object)).rejects.toThrow(message);
    };
    await refused({ keep: { failed: null } }, /dead/);
    await refused({ keep: { dead: { maxAgeMs: -1 } } }, /0 or more/);
    await refused({ maxWating: 3 }, /maxWaiting/);
    await refused({ maxActive: -1 }, /maxActive/);
    await refused(null, /queues\.set/);
  });
});
