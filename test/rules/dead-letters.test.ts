/** Dead letters: what jobs died of, what was decided about it, and running them again. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidOptionError,
  OperationNotFoundError,
  OperationStateError,
  PermanentError,
  PresetNotFoundError,
  type Holdfast,
  type OperationView,
  type RunningJob,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

const OPS = { by: "ops", reason: "SMTP is back" };

describe.each(EVERY_STORE)("dead letters on %s", (name) => {
  let world: World;
  let isBroken: boolean;
  beforeEach(async () => {
    world = await openWorld(name);
    isBroken = true;
  });
  afterEach(() => world.close());

  /** Jobs of type mail die of the fault that their payload names, until it is mended. */
  function mailing(options = {}): Holdfast {
    const { hf } = world.process(options);
    hf.define({
      type: "mail",
      queue: "mail",
      retry: { maxAttempts: 3 },
      run({ payload }: RunningJob<string>) {
        if (isBroken) throw new PermanentError(`${payload} refused by host 10.0.0.1:25`);
      },
    });
    return hf;
  }

  async function dead(hf: Holdfast, faults: readonly string[]): Promise<string[]> {
    const ids: string[] = [];
    for (const fault of faults) ids.push((await hf.enqueue("mail", fault)).id);
    await world.advance(1_000);
    return ids;
  }

  async function until(read: () => Promise<OperationView>, state: string): Promise<OperationView> {
    for (let seconds = 0; seconds < 120; seconds += 1) {
      const view = await read();
      if (view.state === state) return view;
      await world.advance(1_000);
    }
    throw new Error(`it is not ${state} after two minutes: ${JSON.stringify(await read())}`);
  }

  it("dead jobs are shown by the fault they died of", async () => {
    const hf = mailing();
    await hf.work();
    const ids = await dead(hf, ["smtp", "smtp", "dns"]);
    const groups = await hf.deadLetters.groups({ queue: "mail" });
    expect(groups).toMatchObject([
      { type: "mail", count: 2, state: "open", category: "unknown" },
      { type: "mail", count: 1, state: "open", example: ids[2] },
    ]);
    expect(await hf.deadLetters.summary()).toEqual({
      ...{ total: 3, byCategory: { unknown: 3 }, byQueue: { mail: 3 }, byGroup: { "": 3 } },
    });
    const fingerprint = groups[0]?.fingerprint ?? "";
    const letters = await hf.deadLetters.list({ fingerprint, text: "SMTP REFUSED" });
    expect(letters.jobs.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 2).toSorted());
    expect((await hf.deadLetters.list({ text: "nothing like it" })).jobs).toEqual([]);
  });

  it("a resolved fault is shown again only if it comes back, and since which version", async () => {
    const hf = mailing({ appVersion: "2.4.1" });
    await hf.work();
    await dead(hf, ["smtp"]);
    const [group] = await hf.deadLetters.groups();
    await hf.deadLetters.resolve(group?.fingerprint ?? "", OPS);
    expect(await hf.deadLetters.groups()).toEqual([]);
    expect(await hf.deadLetters.groups({ all: true })).toMatchObject([{ state: "resolved" }]);
    await world.advance(10);
    await dead(hf, ["smtp"]);
    expect(await hf.deadLetters.groups()).toMatchObject([{ state: "back", resolvedIn: "2.4.1" }]);
    await hf.deadLetters.reopen(group?.fingerprint ?? "");
    expect(await hf.deadLetters.groups()).toMatchObject([{ state: "open" }]);
    const { entries } = await hf.ledger({ kind: "audit" });
    expect(entries.at(-1)?.body).toMatchObject({ action: "resolved fault", ...OPS });
  });

  it("a fault is known by its dead jobs, its failures and what was decided, a slip by nothing", async () => {
    const [kept, kind] = [mailing(), mailing({ ledger: false })];
    await kept.work();
    const ids = await dead(kept, ["smtp"]);
    const fingerprint = (await kept.deadLetters.groups())[0]?.fingerprint ?? "";
    const known = () => Promise.all([kept, kind].map((hf) => hf.deadLetters.isKnown(fingerprint)));
    expect(await known()).toEqual([true, true]);
    expect(await kept.deadLetters.isKnown(fingerprint.slice(1))).toBe(false);
    await kept.remove(ids[0]!);
    expect(await known()).toEqual([true, false]);
    await kept.deadLetters.ignore(fingerprint);
    expect(await known()).toEqual([true, true]);
  });

  it("an ignored fault is shown once it comes too often", async () => {
    const hf = mailing();
    await hf.work();
    await dead(hf, ["smtp"]);
    const [group] = await hf.deadLetters.groups();
    await hf.deadLetters.ignore(group?.fingerprint ?? "", { untilPerHour: 3 });
    await dead(hf, ["smtp"]);
    expect(await hf.deadLetters.groups()).toEqual([]);
    await dead(hf, ["smtp"]);
    expect(await hf.deadLetters.groups()).toMatchObject([{ state: "open", count: 3 }]);
  });

  it(
    "a fault is shown behind any number of ignored ones, and every queue counts",
    { timeout: 120_000 },
    async () => {
      const hf = mailing();
      const queues = Array.from({ length: 201 }, (_, at) => `mail-${at}`);
      await hf.work({ queues, concurrency: 50 });
      const letter = (digit: string) => "abcdefghij".charAt(Number(digit));
      const word = (at: number) => String(at).replaceAll(/\d/g, letter);
      // Most first: what died twice is before what died once.
      const dying = queues.flatMap((queue, at) => [
        { type: "mail", queue, payload: `${word(at)}-server` },
        ...(at < 200 ? [{ type: "mail", queue, payload: `${word(at)}-server` }] : []),
      ]);
      await hf.enqueueAll(dying);
      for (let seconds = 0; seconds < 60; seconds += 1) {
        if ((await hf.jobs({ status: "queued", limit: 1 })).jobs.length === 0) break;
        await world.advance(1_000);
      }
      const faults = await hf.deadLetters.groups({ limit: 200 });
      expect(faults.map(({ count }) => count)).toEqual(faults.map(() => 2));
      await Promise.all(faults.map(({ fingerprint }) => hf.deadLetters.ignore(fingerprint ?? "")));
      expect(await hf.deadLetters.groups()).toMatchObject([{ count: 1, state: "open" }]);
      expect(await hf.deadLetters.groups({ all: true, limit: 200 })).toHaveLength(200);
      expect((await hf.deadLetters.summary()).total).toBe(401);
    },
  );

  it("a plan changes nothing, and what it says is what is replayed", async () => {
    const hf = mailing();
    await hf.work();
    const ids = await dead(hf, ["smtp", "smtp", "dns", "smtp"]);
    const [worst] = await hf.deadLetters.groups();
    const plan = await hf.deadLetters.plan({ fingerprint: worst?.fingerprint ?? "", limit: 2 });
    expect(plan).toMatchObject({ count: 2, byCategory: { unknown: 2 }, isCut: true });
    expect(plan.sample.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await hf.counts())["mail"]).toMatchObject({ dead: 4 });
    isBroken = false;
    const replay = await plan.start({ attempts: "full", ...OPS });
    const end = await until(() => hf.operations.get(replay.id), "finished");
    expect(end).toMatchObject({ of: 2, done: 2, refused: 0, missing: 0, succeeded: 2 });
    expect(end).toMatchObject({ failedAgain: 0, ...OPS });
    expect((await hf.counts())["mail"]).toMatchObject({ dead: 2, succeeded: 2 });
    expect(await hf.job(ids[0] ?? "")).toMatchObject({ status: "succeeded", maxAttempts: 4 });
    const { failures } = await hf.failures.list({ jobId: ids[0] ?? "" });
    expect(failures).toMatchObject([{ resolvedBy: "ops" }]);
    const { entries } = await hf.ledger({ kind: "audit" });
    const actions = entries.map(({ body }) => (body as { action: string }).action);
    expect(actions).toEqual(["operation finished", "start operation"]);
    await expect(plan.start()).rejects.toThrow(OperationStateError);
  });

  it("no more than fifty whole jobs are read at once, since their payloads may be large", async () => {
    let most = 0;
    const link = (store: Store): Store => ({
      ...store,
      get(refs) {
        most = Math.max(most, refs.length);
        return store.get(refs);
      },
    });
    const hf = mailing({ link });
    await hf.work({ concurrency: 50 });
    const letter = (at: number) => String.fromCharCode(97 + Math.floor(at / 9), 97 + (at % 9));
    await dead(
      hf,
      Array.from({ length: 120 }, (_, at) => letter(at)),
    );
    expect(await hf.deadLetters.groups({ limit: 200 })).toHaveLength(120);
    const { id } = await (await hf.deadLetters.plan()).start();
    await until(() => hf.operations.get(id), "finished");
    expect((await hf.operations.get(id)).failedAgain).toBe(120);
    expect(most).toBeLessThanOrEqual(50);
  });

  it("the ids of a plan that nobody starts are kept for a day, not for as long as a replay", async () => {
    const hf = mailing();
    await hf.work();
    await dead(hf, ["smtp", "dns"]);
    const plan = await hf.deadLetters.plan();
    const keptDays = async () => {
      const prefix = "holdfast/operation-ids/";
      const { records } = await world.store.records.scan({ prefix, limit: 10 });
      return records.map(({ expiresAt }) => ((expiresAt ?? 0) - world.time.now) / 86_400_000);
    };
    expect((await keptDays()).map(Math.round)).toEqual([1]);
    await plan.start();
    expect((await keptDays()).map(Math.round)).toEqual([90]);
  });

  it("a replay that fails too often stops by itself", async () => {
    const hf = mailing();
    await hf.work();
    await dead(
      hf,
      Array.from({ length: 60 }, () => "smtp"),
    );
    const plan = await hf.deadLetters.plan();
    const { id } = await plan.start({ perSecond: 10, stopAtFailureRate: 0.5 });
    const end = await until(() => hf.operations.get(id), "stopped");
    expect(end.done).toBeLessThan(60);
    expect(end.failedAgain).toBeGreaterThanOrEqual(10);
    expect((await hf.counts())["mail"]).toMatchObject({ dead: 60 });
  });

  it("what a replay was refused, and what was gone before it, is no outcome of it", async () => {
    const hf = mailing();
    await hf.work();
    const [retried, removed] = await dead(hf, ["smtp", "smtp", "smtp"]);
    const plan = await hf.deadLetters.plan();
    isBroken = false;
    await hf.retry(retried ?? "");
    await hf.remove(removed ?? "");
    await world.advance(1_000);
    isBroken = true;
    const { id } = await plan.start();
    const end = await until(() => hf.operations.get(id), "finished");
    expect(end).toMatchObject({ done: 1, refused: 1, missing: 1, succeeded: 0, failedAgain: 1 });
  });

  it("a replay keeps its pace, pauses, goes on and is aborted", async () => {
    const hf = mailing();
    await hf.work();
    await dead(
      hf,
      Array.from({ length: 90 }, () => "smtp"),
    );
    isBroken = false;
    const replay = await (await hf.deadLetters.plan()).start({ perSecond: 10 });
    const done = async () => (await hf.operations.get(replay.id)).done;
    await world.advance(3_000);
    expect(await done()).toBeGreaterThan(10);
    expect(await done()).toBeLessThanOrEqual(31);
    await replay.pause();
    const paused = await done();
    await world.advance(10_000);
    expect(await done()).toBe(paused);
    await expect(replay.pause()).rejects.toThrow(OperationStateError);
    await replay.resume();
    await world.advance(2_000);
    expect(await done()).toBeGreaterThan(paused);
    // Five seconds in all, and one job at the very beginning.
    expect(await done()).toBeLessThanOrEqual(51);
    await replay.abort();
    const aborted = await done();
    await world.advance(5_000);
    expect(await done()).toBe(aborted);
    await expect(replay.resume()).rejects.toThrow(OperationStateError);
    const seen: string[] = [];
    for await (const { state } of replay.watch()) seen.push(state);
    expect(seen).toEqual(["aborted"]);
  });

  it("a replay that no process carried for a while does not make up for it in a burst", async () => {
    const hf = mailing();
    const worker = await hf.work();
    await dead(
      hf,
      Array.from({ length: 100 }, () => "smtp"),
    );
    isBroken = false;
    await worker.stop();
    const { id } = await (await hf.deadLetters.plan()).start({ perSecond: 5 });
    await world.advance(10_000);
    expect((await hf.operations.get(id)).done).toBe(0);
    await hf.work();
    await world.advance(2_000);
    const { done } = await hf.operations.get(id);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThanOrEqual(21);
  });

  it("an operation survives the process that carries it on, and touches no job twice", async () => {
    const first = world.process();
    const second = world.process();
    const runs = new Map<string, number>();
    for (const { hf } of [first, second]) {
      hf.define({
        type: "mail",
        queue: "mail",
        run(job: RunningJob<string>) {
          if (isBroken) throw new PermanentError("smtp");
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
        },
      });
    }
    await first.hf.work();
    const ids = await dead(
      first.hf,
      Array.from({ length: 200 }, () => "smtp"),
    );
    isBroken = false;
    await second.hf.work();
    const { id } = await (await first.hf.deadLetters.plan()).start({ perSecond: 40 });
    await world.advance(2_000);
    first.kill();
    const end = await until(() => second.hf.operations.get(id), "finished");
    expect(end).toMatchObject({ of: 200, done: 200, refused: 0, missing: 0, succeeded: 200 });
    expect([...runs.values()].filter((count) => count > 2)).toEqual([]);
    expect(runs.size).toBe(ids.length);
  });

  it("jobs are cancelled, rescheduled and removed by a filter", async () => {
    const { hf } = world.process();
    hf.define({ type: "later", queue: "mail", run: () => {} });
    for (let at = 0; at < 5; at += 1) {
      await hf.enqueue("later", at, { queue: "mail", delayMs: 3_600_000, tags: ["beta"] });
    }
    await hf.enqueue("later", 9, { queue: "mail", delayMs: 3_600_000 });
    await hf.work({ queues: ["other"] });
    const act = async (action: "cancel" | "remove" | "reschedule", options = {}) => {
      const plan = await hf.operations.plan({ action, filter: { queue: "mail", tag: "beta" } });
      expect(plan.count).toBe(5);
      const { id } = await plan.start(options);
      return until(() => hf.operations.get(id), "finished");
    };
    expect(await act("reschedule", { delayMs: 7_200_000 })).toMatchObject({ done: 5 });
    const [job] = (await hf.jobs({ tag: "beta" })).jobs;
    expect(job?.runAt.getTime()).toBeGreaterThan(world.time.now + 7_000_000);
    expect(await act("cancel", OPS)).toMatchObject({ done: 5, refused: 0 });
    expect((await hf.counts())["mail"]).toMatchObject({ cancelled: 5, delayed: 1 });
    expect(await act("remove")).toMatchObject({ done: 5, missing: 0 });
    expect((await hf.counts())["mail"]).toMatchObject({ cancelled: 0, delayed: 1 });
    expect((await hf.operations.list()).map(({ action }) => action)).toEqual([
      ...["remove", "cancel", "reschedule"],
    ]);
  });

  it("strategies and shares choose as they say", async () => {
    const hf = mailing();
    await hf.work();
    const ids = await dead(hf, ["a", "b", "c", "d", "e", "f"]);
    const chosen = async (options: object) =>
      (await hf.deadLetters.plan(options)).sample.map(({ id }) => id);
    expect(await chosen({ strategy: "oldest", limit: 2 })).toEqual(ids.slice(0, 2));
    expect(await chosen({ strategy: "newest", limit: 2 })).toEqual(ids.toReversed().slice(0, 2));
    const drawn = await chosen({ strategy: "random", limit: 3, seed: 7 });
    expect(await chosen({ strategy: "random", limit: 3, seed: 7 })).toEqual(drawn);
    expect(new Set(drawn).size).toBe(3);
    expect(await chosen({ perCategory: 4 })).toHaveLength(4);
    expect(await chosen({ strategy: "random", perCategory: 1 })).toHaveLength(1);
  });

  it("a preset is saved, listed, planned and removed", async () => {
    const hf = mailing();
    await hf.work();
    await dead(hf, ["smtp"]);
    const { presets } = hf.deadLetters;
    await presets.save("nightly", { category: "unknown", strategy: "oldest", limit: 500 });
    expect(await presets.list()).toEqual([
      { name: "nightly", options: { category: "unknown", strategy: "oldest", limit: 500 } },
    ]);
    expect((await presets.plan("nightly")).count).toBe(1);
    const names = Array.from({ length: 201 }, (_, at) => `other-${String(at).padStart(3, "0")}`);
    await Promise.all(names.map((name) => presets.save(name, {})));
    expect((await presets.list()).map(({ name }) => name)).toEqual(["nightly", ...names]);
    await presets.remove("nightly");
    await expect(presets.plan("nightly")).rejects.toThrow(PresetNotFoundError);
  });

  it("what cannot be done is refused with what can", async () => {
    const { hf } = world.process();
    const { deadLetters, operations } = hf;
    await expect(deadLetters.plan({ limit: 10_001 })).rejects.toThrow(/10000|10,000/);
    await expect(deadLetters.plan({ strategy: "eldest" as never })).rejects.toThrow(/oldest/);
    await expect(deadLetters.plan({ statuss: 1 } as object)).rejects.toThrow(InvalidOptionError);
    await expect(deadLetters.resolve("")).rejects.toThrow(InvalidOptionError);
    await expect(operations.get("none")).rejects.toThrow(OperationNotFoundError);
    await expect(operations.plan({ action: "remove", filter: {} })).rejects.toThrow(
      /needs a filter/,
    );
    const nothing = await deadLetters.plan({ queue: "empty" });
    expect(nothing.count).toBe(0);
    await expect(nothing.start({ stopAtFailureRate: 2 })).rejects.toThrow(InvalidOptionError);
    expect(await nothing.start()).toMatchObject({ state: "finished", of: 0 });
  });
});
