/** The process that carries an operation on is killed, frozen or overtaken at the worst of moments. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  PermanentError,
  StoreUnavailableError,
  type Holdfast,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { EVERY_STORE, openWorld, signal, type ProcessOptions, type World } from "./world.ts";

type Swaps = Parameters<Store["records"]["swap"]>[0];

describe.each(EVERY_STORE)("the carrier of an operation on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  let isBroken: boolean;
  beforeEach(async () => {
    world = await openWorld(name);
    isBroken = true;
  });
  afterEach(() => world.close());

  function mailing(options: ProcessOptions = {}) {
    const process = world.process(options);
    process.hf.define({
      ...{ type: "mail", queue: "mail", retry: { maxAttempts: 1 } },
      run() {
        if (isBroken) throw new PermanentError("smtp refused");
      },
    });
    return process;
  }

  /** A process with so many dead jobs, and nothing that works. */
  async function withDead(count: number, options: ProcessOptions = {}): Promise<Holdfast> {
    const { hf } = mailing(options);
    for (let at = 0; at < count; at += 1) await hf.enqueue("mail", at);
    const worker = await hf.work();
    for (let turn = 0; (await hf.counts())["mail"]?.dead !== count; turn += 1) {
      if (turn > 50) throw new Error("they do not die");
      await world.advance(200);
    }
    await worker.stop();
    return hf;
  }

  /** Stands between a process and its records. */
  const onSwap =
    (around: (swaps: Swaps, swap: () => ReturnType<Store["records"]["swap"]>) => unknown) =>
    (store: Store): Store => {
      const { records } = store;
      const swap = (swaps: Swaps) => around(swaps, () => records.swap(swaps));
      const own = { read: records.read.bind(records), scan: records.scan.bind(records), swap };
      return new Proxy(store, {
        get: (target, member) =>
          member === "records" ? own : (Reflect.get(target, member) as unknown),
      });
    };

  /** A process that is killed once it has retried jobs, before it could write that down. */
  function dyingAfterRevival() {
    const carrier = mailing({
      link: (store) =>
        new Proxy(store, {
          get: (target, member) =>
            member === "revive"
              ? async (...call: Parameters<Store["revive"]>) => {
                  await store.revive(...call);
                  carrier.kill();
                  throw new Error("a dead process does not hear of this");
                }
              : (Reflect.get(target, member) as unknown),
        }),
    });
    return carrier;
  }

  /** A ledger in a store of its own, whose reads fail, or hang until they do, for as long as they are told to. */
  async function ledgerElsewhere() {
    const store = memoryStore({ now: () => world.time.now });
    await store.open();
    const hung: (() => void)[] = [];
    let how: "answers" | "hangs" | "fails" = "answers";
    const ledger: Store["ledger"] = {
      ...store.ledger,
      async read(...call) {
        if (how === "answers") return store.ledger.read(...call);
        if (how === "hangs") await new Promise<void>((end) => hung.push(end));
        throw new StoreUnavailableError("nobody answers", { mayHaveHappened: false });
      },
    };
    return {
      store: { open: async () => {}, close: async () => {}, records: store.records, ledger },
      hang: () => void (how = "hangs"),
      fail: () => void (how = "fails"),
      answer() {
        how = "answers";
        for (const end of hung.splice(0)) end();
      },
    };
  }

  async function untilFinished(hf: Holdfast, id: string): Promise<void> {
    for (let turn = 0; (await hf.operations.get(id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
  }

  async function actions(hf: Holdfast): Promise<string[]> {
    const { entries } = await hf.ledger({ kind: "audit" });
    return entries.map(({ body }) => (body as { action: string }).action).toReversed();
  }

  it("an operation whose carrier dies at its very end is audited by another", async () => {
    const hf = await withDead(3);
    isBroken = false;
    const { id } = await (await hf.deadLetters.plan()).start();
    const carrier = mailing({
      link: onSwap(async (swaps, swap) => {
        const result = await swap();
        if (!swaps.some(({ value }) => /"state":"finished".*"told":false/.test(value ?? ""))) {
          return result;
        }
        carrier.kill();
        throw new Error("a dead process does not hear of this");
      }),
    });
    await carrier.hf.work();
    for (let turn = 0; (await hf.operations.get(id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
    expect(await actions(hf)).toEqual(["start operation"]);
    world.jumpStoreClock(11_000);
    await mailing().hf.work();
    await world.advance(5_000);
    expect(await actions(hf)).toEqual(["start operation", "operation finished"]);
  });

  it("a carrier that was frozen in a step touches no job any more", async () => {
    const hf = await withDead(3);
    const [frozen, thawed] = [signal(), signal()];
    const link = onSwap((swaps, swap) => {
      const isStep = swaps.some(({ value }) => /"step":\{/.test(value ?? ""));
      if (!isStep || frozen.isReached()) return swap();
      const reply = swap().then(async (result) => {
        frozen.reach();
        await thawed.reached;
        return result;
      });
      // oxlint-disable-next-line unicorn/no-thenable -- for a promise the world would wait before time passes
      return { then: reply.then.bind(reply) };
    });
    const { id } = await (await hf.deadLetters.plan()).start();
    const slow = mailing({ link });
    await slow.hf.work({ queues: ["elsewhere"] });
    await world.advance(3_000);
    await world.until(() => frozen.isReached());
    await mailing().hf.work();
    for (let turn = 0; (await hf.operations.get(id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
    expect(await hf.operations.get(id)).toMatchObject({ done: 3, failedAgain: 3 });
    thawed.reach();
    await world.advance(3_000);
    const { jobs } = await hf.jobs({ queue: "mail" });
    expect(jobs.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
      Array.from({ length: 3 }, () => "dead 2"),
    );
  });

  it("what a step did counts although a person aborts during it", async () => {
    const hf = await withDead(3);
    const plan = await hf.deadLetters.plan();
    const replay = await plan.start();
    let hasAborted = false;
    const link = onSwap(async (swaps, swap) => {
      const isStep = swaps.some(({ value }) => /"step":\{/.test(value ?? ""));
      const result = await swap();
      if (isStep && !hasAborted) {
        hasAborted = true;
        await replay.abort();
      }
      return result;
    });
    await mailing({ link }).hf.work({ queues: ["elsewhere"] });
    await world.advance(3_000);
    const { state, done } = await hf.operations.get(replay.id);
    expect(state).toBe("aborted");
    expect(done).toBe(3 - ((await hf.counts())["mail"]?.dead ?? 0));
  });

  it("one that is paused during its last step and goes on then ends", async () => {
    const hf = await withDead(3);
    isBroken = false;
    const replay = await (await hf.deadLetters.plan()).start();
    let hasPaused = false;
    const link = onSwap(async (swaps, swap) => {
      const isStep = swaps.some(({ value }) => /"step":\{/.test(value ?? ""));
      const result = await swap();
      if (isStep && !hasPaused) {
        hasPaused = true;
        await replay.pause();
      }
      return result;
    });
    await mailing({ link }).hf.work();
    await world.advance(3_000);
    expect(await hf.operations.get(replay.id)).toMatchObject({ state: "paused", done: 3 });
    await replay.resume();
    for (let turn = 0; (await hf.operations.get(replay.id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
    expect(await hf.operations.get(replay.id)).toMatchObject({ done: 3, succeeded: 3 });
  });

  it("a job that a dead carrier retried, and a person cancelled since, stays cancelled", async () => {
    const hf = await withDead(1);
    const { id } = await (await hf.deadLetters.plan()).start();
    await dyingAfterRevival().hf.work({ queues: ["elsewhere"] });
    for (let turn = 0; (await hf.counts())["mail"]?.dead !== 0; turn += 1) {
      if (turn > 20) throw new Error("nothing is replayed");
      await world.advance(500);
    }
    const { jobs } = await hf.jobs({ queue: "mail" });
    await hf.cancel(jobs[0]?.id ?? "", { by: "ops", reason: "not this one" });
    await mailing().hf.work();
    await world.advance(20_000);
    expect((await hf.job(jobs[0]?.id ?? ""))?.status).toBe("cancelled");
    expect(await hf.operations.get(id)).toMatchObject({ done: 1, missing: 0 });
  });

  it("jobs that a dead carrier retried count as done, also if they are gone since", async () => {
    const hf = await withDead(3);
    isBroken = false;
    await hf.queues.set("mail", { keep: { succeeded: { maxCount: 0 } } });
    const { id } = await (await hf.deadLetters.plan()).start();
    await dyingAfterRevival().hf.work({ queues: ["elsewhere"] });
    for (let turn = 0; (await hf.counts())["mail"]?.dead !== 0; turn += 1) {
      if (turn > 20) throw new Error("nothing is replayed");
      await world.advance(500);
    }
    await mailing().hf.work();
    for (let turn = 0; (await hf.operations.get(id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
    expect((await hf.jobs({ queue: "mail" })).jobs).toEqual([]);
    expect(await hf.operations.get(id)).toMatchObject({ done: 3, missing: 0, succeeded: 3 });
  });

  it("failures of a job whose carrier died before it marked them are resolved by the next", async () => {
    const hf = await withDead(3);
    isBroken = false;
    const { id } = await (await hf.deadLetters.plan()).start({ by: "ops", reason: "mended" });
    await dyingAfterRevival().hf.work({ queues: ["elsewhere"] });
    for (let turn = 0; (await hf.counts())["mail"]?.dead !== 0; turn += 1) {
      if (turn > 20) throw new Error("nothing is replayed");
      await world.advance(500);
    }
    await mailing().hf.work();
    for (let turn = 0; (await hf.operations.get(id)).state !== "finished"; turn += 1) {
      if (turn > 60) throw new Error("it does not end");
      await world.advance(1_000);
    }
    expect(await hf.operations.get(id)).toMatchObject({ done: 3, refused: 0, succeeded: 3 });
    const { failures } = await hf.failures.list({ final: true });
    expect(failures.map(({ resolvedBy }) => resolvedBy)).toEqual(["ops", "ops", "ops"]);
  });

  it("a ledger that hangs holds no replay up, and hears of it once it answers", async () => {
    const elsewhere = await ledgerElsewhere();
    const hf = await withDead(3, { ledger: elsewhere.store });
    await world.advance(10_000);
    isBroken = false;
    elsewhere.hang();
    const { id } = await (await hf.deadLetters.plan()).start({ by: "ops", reason: "mended" });
    for (let at = 0; at < 2; at += 1) await mailing({ ledger: elsewhere.store }).hf.work();
    await world.advance(20_000);
    expect(await hf.operations.get(id)).toMatchObject({ done: 3, succeeded: 3 });
    elsewhere.answer();
    await untilFinished(hf, id);
    const { failures } = await hf.failures.list({ final: true });
    expect(failures.map(({ resolvedBy }) => resolvedBy)).toEqual(["ops", "ops", "ops"]);
  });

  it("an operation that cannot go on keeps no other from it", async () => {
    const elsewhere = await ledgerElsewhere();
    const { hf } = mailing({ ledger: elsewhere.store });
    await hf.enqueue("mail", 1, { queue: "later", delayMs: 60_000 });
    elsewhere.fail();
    await hf.erase({ group: "tenant-7" });
    await world.advance(10);
    const plan = await hf.operations.plan({ action: "cancel", filter: { queue: "later" } });
    const { id } = await plan.start();
    await hf.work({ queues: ["elsewhere"] });
    await untilFinished(hf, id);
    expect((await hf.operations.get(id)).done).toBe(1);
  });

  it("a start whose answer got lost has started it, and is audited", async () => {
    await withDead(3);
    let isLost = false;
    const link = onSwap(async (swaps, swap) => {
      const result = await swap();
      if (isLost || !swaps.some(({ value }) => /"state":"running"/.test(value ?? ""))) {
        return result;
      }
      isLost = true;
      throw new StoreUnavailableError("nobody answers", { mayHaveHappened: true });
    });
    const { hf } = mailing({ link });
    const starting = (await hf.deadLetters.plan()).start({ by: "ops" });
    await world.advance(2_000);
    const { id } = await starting;
    expect(isLost).toBe(true);
    expect(await hf.operations.get(id)).toMatchObject({ state: "running", by: "ops" });
    expect(await actions(hf)).toEqual(["start operation"]);
  });
});
