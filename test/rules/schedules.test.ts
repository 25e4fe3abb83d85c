/** Schedules fire once per fleet, at their times, whatever dies, freezes or is away meanwhile. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidNameError,
  InvalidOptionError,
  ScheduleInCodeError,
  ScheduleNotFoundError,
  StoreUnavailableError,
  type Holdfast,
  type ScheduleOptions,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { outage } from "./outage.ts";
import { EVERY_STORE, openWorld, signal, type ProcessOptions, type World } from "./world.ts";

const MINUTE = 60_000;
const EVERY_MINUTE = { cron: "* * * * *", job: { type: "work", payload: null } } as const;

describe.each(EVERY_STORE)("schedules on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  interface Making extends ProcessOptions {
    readonly schedules?: Readonly<Record<string, ScheduleOptions>>;
    readonly run?: () => unknown;
  }

  /** A process with a worker, that declares these. */
  async function worker({ schedules = {}, run = () => {}, ...options }: Making = {}) {
    const process = world.process(options);
    process.hf.handle("work", run);
    for (const [each, rule] of Object.entries(schedules)) process.hf.schedule(each, rule);
    await process.hf.work();
    return process;
  }

  /** Just after a whole minute, so that the first tick of a minute is almost one away. */
  async function toMinute() {
    world.time.leap(MINUTE - (world.time.now % MINUTE));
    await world.advance(100);
  }

  /** Time in which nothing runs: only its last seconds are lived through. */
  async function passes(ms: number) {
    if (ms > 8_000) world.time.leap(ms - 8_000);
    await world.advance(Math.min(ms, 8_000));
  }

  /** An hour at fifty milliseconds a step would take its time. */
  async function leap(ms: number) {
    for (let left = ms; left > 0; left -= MINUTE) {
      world.time.leap(Math.min(left, MINUTE));
      await world.advance(1_500);
    }
  }

  async function jobs(hf: Holdfast) {
    const { jobs: all } = await hf.jobs({ limit: 200 });
    return all.toReversed();
  }

  async function ticks(hf: Holdfast, schedule = "each") {
    const { runs } = await hf.schedules.runs(schedule, { limit: 200 });
    return runs.toReversed();
  }

  it("ticks that come closer than a second are fired together, each within a second", async () => {
    let inserts = 0;
    const counting = (store: Store): Store => ({
      ...store,
      insert: (...given) => ((inserts += 1), store.insert(...given)),
    });
    const at = (nth: number) => ({
      ...{ everyMs: MINUTE, startAfterMs: 5_000 + 100 * nth },
      job: { type: "work", payload: nth },
    });
    const schedules = Object.fromEntries(
      Array.from({ length: 30 }, (_, nth) => [`${nth}`, at(nth)]),
    );
    const { hf } = await worker({ schedules, link: counting });
    await world.advance(10_000);
    const fired = await jobs(hf);
    const payloads = new Set(fired.map(({ payload }) => payload));
    expect([fired.length, payloads.size]).toEqual([30, 30]);
    for (const { createdAt, meta } of fired) {
      const lateMs = createdAt.getTime() - Date.parse(String(meta?.["tick"]));
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThan(1_000);
    }
    expect(inserts).toBeLessThanOrEqual(6);
  });

  it("a tick fires once for the whole fleet, at its time, not earlier", async () => {
    await toMinute();
    const at = Math.ceil(world.time.now / MINUTE) * MINUTE;
    const fleet = [];
    for (let many = 0; many < 3; many += 1) {
      fleet.push(await worker({ schedules: { each: EVERY_MINUTE } }));
    }
    await passes(at - world.time.now - 200);
    const [{ hf }] = fleet as [(typeof fleet)[0]];
    expect(await jobs(hf)).toEqual([]);
    await world.advance(5_000);
    expect(await jobs(hf)).toMatchObject([
      {
        ...{ type: "work", status: "succeeded", tags: ["schedule:each"] },
        meta: { schedule: "each", tick: new Date(at).toISOString() },
      },
    ]);
    await passes(MINUTE);
    expect(await jobs(hf)).toHaveLength(2);
    expect((await ticks(hf)).map(({ tick, state }) => [tick.getTime(), state])).toEqual([
      [at, "fired"],
      [at + MINUTE, "fired"],
    ]);
  });

  it("a clock that is an hour off on one host fires nothing early, nothing twice", async () => {
    await toMinute();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE }, wallSkewMs: 60 * MINUTE });
    await worker({ schedules: { each: EVERY_MINUTE }, wallSkewMs: -60 * MINUTE });
    await passes(30_000);
    expect(await jobs(hf)).toEqual([]);
    await passes(35_000);
    expect(await jobs(hf)).toHaveLength(1);
  });

  it("a claim that its process did not live to carry out is carried on by another", async () => {
    await toMinute();
    const first = await worker({
      schedules: { each: EVERY_MINUTE },
      link: (store) => withVerb(store, "insert", () => Promise.reject(away())),
    });
    await passes(MINUTE);
    expect(await jobs(first.hf)).toEqual([]);
    first.kill();
    const second = await worker({ schedules: { each: EVERY_MINUTE } });
    await world.advance(12_000);
    expect(await jobs(second.hf)).toHaveLength(1);
    expect(await ticks(second.hf)).toMatchObject([{ state: "fired", outcome: "succeeded" }]);
  });

  it("a process that was frozen after its claim inserts nothing before it has looked again", async () => {
    await toMinute();
    const calls: string[] = [];
    const frozen = { isOn: false };
    const noted = (verb: Verb) => (store: Store) =>
      withVerb(store, verb, (call) => (calls.push(verb), call()));
    const freezing = (store: Store) =>
      withVerb(store, "swap", async (call, args) => {
        const reply = await call();
        if (!frozen.isOn || !JSON.stringify(args).includes('\\"ticks\\":')) return reply;
        frozen.isOn = false;
        calls.length = 0;
        world.time.leap(15_000);
        return reply;
      });
    const { hf } = await worker({
      schedules: { each: EVERY_MINUTE },
      link: (store) => noted("read")(noted("insert")(freezing(store))),
    });
    frozen.isOn = true;
    await passes(MINUTE);
    await world.advance(20_000);
    expect(frozen.isOn).toBe(false);
    expect(calls.indexOf("read")).toBeGreaterThanOrEqual(0);
    expect(calls.indexOf("read")).toBeLessThan(calls.indexOf("insert"));
    expect(await jobs(hf)).toHaveLength(1);
    expect(await hf.schedules.get("each")).toMatchObject({ fired: 1 });
  });

  it("replies that get lost at a tick make it no second job, and no second entry", async () => {
    await toMinute();
    const network = outage();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE }, link: network.link });
    await passes(MINUTE - (world.time.now % MINUTE) - 50);
    network.mode = "deaf";
    await world.advance(3_000);
    expect(network.met).toBeGreaterThan(0);
    network.mode = "none";
    await world.advance(15_000);
    expect(await jobs(hf)).toHaveLength(1);
    expect(await ticks(hf)).toHaveLength(1);
    expect(await hf.schedules.get("each")).toMatchObject({ fired: 1, missed: 0 });
  });

  it("a run by hand whose answer got lost is the same run when it is asked for again", async () => {
    await toMinute();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE } });
    let isDeaf = true;
    const ops = world.process({
      link: (store) => ({
        ...store,
        async insert(...given) {
          const answer = await store.insert(...given);
          if (!isDeaf) return answer;
          throw new StoreUnavailableError("nobody answers", { mayHaveHappened: true });
        },
      }),
    });
    const unheard = ops.hf.schedules.runNow("each");
    const failed = expect(unheard).rejects.toThrow(StoreUnavailableError);
    await world.advance(3_000);
    await failed;
    isDeaf = false;
    const { id } = await ops.hf.schedules.runNow("each", { by: "ops" });
    expect((await jobs(hf)).map((job) => job.id)).toEqual([id]);
    expect(await hf.schedules.get("each")).toMatchObject({ fired: 1, lastRun: { job: id } });
    expect(await ticks(hf)).toMatchObject([{ job: id, isManual: true, by: "ops" }]);
    expect((await ops.hf.schedules.runNow("each")).id).not.toBe(id);
    expect(await jobs(hf)).toHaveLength(2);
  });

  it("ticks that were missed are run once, not at all, or each, as the schedule says", async () => {
    await toMinute();
    const schedules = {
      once: EVERY_MINUTE,
      skip: { ...EVERY_MINUTE, missed: "skip" },
      all: { ...EVERY_MINUTE, missed: "all" },
    } as const;
    const before = await worker({ schedules });
    await before.hf.close();
    // Between two ticks, so that the latest of them is more than a minute late for none.
    world.time.leap(5 * MINUTE + 30_000);
    const { hf } = await worker({ schedules });
    await world.advance(5_000);
    const states = async (schedule: string) =>
      (await ticks(hf, schedule)).map(({ state }) => state);
    expect(await states("once")).toEqual(["missed", "missed", "missed", "missed", "fired"]);
    expect(await states("skip")).toEqual(["missed", "missed", "missed", "missed", "fired"]);
    expect(await states("all")).toEqual(["fired", "fired", "fired", "fired", "fired"]);
    expect(await hf.schedules.get("once")).toMatchObject({ missed: 4, fired: 1 });
    await hf.schedules.set("late", { ...EVERY_MINUTE, cron: "0 0 1 1 *", missed: "skip" });
    const [, , { next }] = (await hf.schedules.list()) as [unknown, unknown, { next: Date[] }];
    expect(next).toHaveLength(5);
  });

  it("a tick more than a minute late is missed where late ones are skipped", async () => {
    await toMinute();
    const hourly = { ...EVERY_MINUTE, cron: "0 * * * *", missed: "skip" } as const;
    const before = await worker({ schedules: { each: hourly } });
    await before.hf.close();
    world.time.leap(61 * MINUTE + 30_000);
    const { hf } = await worker({ schedules: { each: hourly } });
    await world.advance(3_000);
    expect((await ticks(hf)).map(({ state }) => state)).toEqual(["missed"]);
    expect(await jobs(hf)).toEqual([]);
  });

  it("a tick is skipped, queued behind the running job, or cancels it, as the schedule says", async () => {
    await toMinute();
    const done = signal();
    let running = 0;
    let most = 0;
    const run = async (job: { signal: AbortSignal; tags: readonly string[] }) => {
      const isQueued = job.tags.includes("schedule:queue");
      if (isQueued) most = Math.max(most, (running += 1));
      const aborted = new Promise<never>((_, reject) => {
        job.signal.addEventListener("abort", () => reject(job.signal.reason as Error));
      });
      await Promise.race([done.reached, aborted]).finally(() => (running -= isQueued ? 1 : 0));
    };
    const { hf } = await worker({
      run: run as () => unknown,
      schedules: {
        skip: EVERY_MINUTE,
        queue: { ...EVERY_MINUTE, overlap: "queue" },
        cancel: { ...EVERY_MINUTE, overlap: "cancel" },
      },
    });
    // And a while longer: the job of the last tick waits until the one before is cancelled.
    await world.advance(3 * MINUTE + 5_000);
    const seen = async (schedule: string) =>
      (await ticks(hf, schedule)).map(({ state, outcome }) => `${state} ${outcome}`);
    expect(await seen("skip")).toEqual(["fired running", "skipped null", "skipped null"]);
    expect(await seen("queue")).toEqual(["fired running", "fired waiting", "fired waiting"]);
    expect(await seen("cancel")).toEqual(["fired cancelled", "fired cancelled", "fired running"]);
    done.reach();
    await world.advance(5_000);
    expect(await seen("queue")).toEqual(Array.from({ length: 3 }, () => "fired succeeded"));
    expect(most).toBe(1);
    expect(await hf.schedules.get("skip")).toMatchObject({ fired: 1, skipped: 2 });
  });

  it("every tick is on record with its job, outcome, error and duration", async () => {
    await toMinute();
    const { hf } = await worker({
      ledger: "store",
      schedules: { each: { ...EVERY_MINUTE, job: { ...EVERY_MINUTE.job, maxAttempts: 1 } } },
      run: () => {
        throw new Error("the CRM is away");
      },
    });
    await passes(MINUTE + 1_000);
    const [run] = await ticks(hf);
    expect(run).toMatchObject({
      ...{ schedule: "each", state: "fired", outcome: "dead", error: "the CRM is away" },
      ...{ isManual: false, by: null },
    });
    expect(run?.ranMs).toBeGreaterThanOrEqual(0);
    expect((await hf.job(run!.job!))?.status).toBe("dead");
    // Also once the job is gone.
    await hf.remove(run!.job!);
    expect(await ticks(hf)).toMatchObject([{ outcome: "dead", error: "the CRM is away" }]);
    const { lastRun, next } = await hf.schedules.get("each");
    expect(lastRun).toMatchObject({ outcome: "dead", error: "the CRM is away" });
    expect(next).toHaveLength(5);
  });

  it("a full queue holds no tick back", async () => {
    await toMinute();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE } });
    await hf.pause("default");
    await hf.limit("default", { maxWaiting: 0 });
    await passes(MINUTE);
    expect(await jobs(hf)).toMatchObject([{ status: "queued" }]);
  });

  it("an interval starts after its delay, and a restart does not move its ticks", async () => {
    const schedules = {
      each: { everyMs: 2 * MINUTE, startAfterMs: 30_000, job: EVERY_MINUTE.job },
    };
    const first = await worker({ schedules });
    const start = world.time.now;
    await passes(29_000);
    expect(await jobs(first.hf)).toEqual([]);
    await world.advance(2_000);
    expect(await jobs(first.hf)).toHaveLength(1);
    await first.hf.close();
    await passes(20_000);
    const second = await worker({ schedules });
    await passes(2 * MINUTE);
    const due = (await ticks(second.hf)).map(({ tick }) => tick.getTime());
    expect(due).toHaveLength(2);
    expect(due[0]! - start).toBeGreaterThanOrEqual(29_000);
    expect(due[1]! - due[0]!).toBe(2 * MINUTE);
  });

  it("a schedule is paused, resumed and run by an operator, and it is audited", async () => {
    await toMinute();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE } });
    const ops = world.process();
    await ops.hf.schedules.pause("each", { by: "ops", reason: "the CRM is away" });
    await passes(2 * MINUTE + 6_000);
    expect(await jobs(hf)).toEqual([]);
    expect(await hf.schedules.get("each")).toMatchObject({
      ...{ enabled: false, next: [], paused: { by: "ops", reason: "the CRM is away" } },
    });
    const { id } = await ops.hf.schedules.runNow("each", { by: "ops" });
    await world.advance(1_000);
    expect((await hf.job(id))?.status).toBe("succeeded");
    expect(await ticks(hf)).toMatchObject([{ job: id, isManual: true, by: "ops" }]);
    await ops.hf.schedules.resume("each", { by: "ops" });
    await passes(MINUTE + 6_000);
    // What it did not fire while it was paused was not missed.
    expect(await hf.schedules.get("each")).toMatchObject({ missed: 0, enabled: true });
    expect((await jobs(hf)).length).toBeGreaterThanOrEqual(2);
    const { entries } = await ops.hf.ledger({ kind: "audit" });
    expect(entries.map(({ body }) => (body as { action: string }).action)).toEqual([
      ...["resume schedule", "run schedule", "pause schedule"],
    ]);
  });

  it("of two programs the one with the higher appVersion says what fires, unless none lives", async () => {
    const cron = (minute: number) => ({ ...EVERY_MINUTE, cron: `${minute} * * * *` });
    const newer = await worker({ appVersion: "2.10.0", schedules: { each: cron(10) } });
    const older = await worker({ appVersion: "2.9.0", schedules: { each: cron(9) } });
    expect(await older.hf.schedules.get("each")).toMatchObject({ cron: "10 * * * *" });
    expect(older.said.join()).toMatch(/as version 2.10.0 declares it/);
    const same = await worker({ appVersion: "2.10.0", schedules: { each: cron(11) } });
    expect(await same.hf.schedules.get("each")).toMatchObject({ cron: "11 * * * *" });
    await newer.hf.close();
    await same.hf.close();
    // Those that lived beside it have their say within minutes; one that starts later, at once.
    await leap(6 * MINUTE);
    expect(await older.hf.schedules.get("each")).toMatchObject({ cron: "9 * * * *" });
    const rolledBack = await worker({ appVersion: "2.9.0", schedules: { each: cron(8) } });
    expect(await rolledBack.hf.schedules.get("each")).toMatchObject({ cron: "8 * * * *" });
  });

  it("a schedule that no live worker declares is disabled after an hour, shown, and back with the next that does", async () => {
    const first = await worker({ schedules: { each: EVERY_MINUTE, other: EVERY_MINUTE } });
    await first.hf.close();
    const { hf, said } = await worker({ schedules: { other: EVERY_MINUTE } });
    await leap(50 * MINUTE);
    expect(await hf.schedules.get("each")).toMatchObject({ enabled: true });
    await leap(40 * MINUTE);
    expect(await hf.schedules.get("each")).toMatchObject({ enabled: false, next: [] });
    expect((await hf.schedules.get("each")).disabledAt).toBeInstanceOf(Date);
    expect(await hf.schedules.get("other")).toMatchObject({ enabled: true, disabledAt: null });
    expect(said.join()).toMatch(/schedule each is disabled/);
    const before = (await hf.schedules.get("each")).fired;
    const again = await worker({ schedules: { each: EVERY_MINUTE } });
    await passes(MINUTE + 5_000);
    expect(await again.hf.schedules.get("each")).toMatchObject({ enabled: true });
    expect((await hf.schedules.get("each")).fired).toBeGreaterThan(before);
  });

  it("a schedule that a person paused is still paused when its code was away for hours", async () => {
    const first = await worker({ schedules: { each: EVERY_MINUTE, other: EVERY_MINUTE } });
    await first.hf.schedules.pause("each", { by: "ops", reason: "audit" });
    await first.hf.close();
    const { hf } = await worker({ schedules: { other: EVERY_MINUTE } });
    await leap(90 * MINUTE);
    expect((await hf.schedules.get("each")).disabledAt).toBeInstanceOf(Date);
    await worker({ schedules: { each: EVERY_MINUTE } });
    const back = await hf.schedules.get("each");
    expect(back).toMatchObject({ disabledAt: null, enabled: false, paused: { by: "ops" } });
    await hf.schedules.resume("each");
    expect(await hf.schedules.get("each")).toMatchObject({ enabled: true, paused: null });
  });

  it("a worker that starts while its schedule is being disabled has it enabled", async () => {
    const first = await worker({ schedules: { each: EVERY_MINUTE, other: EVERY_MINUTE } });
    await first.hf.close();
    let looks = 0;
    const link = (store: Store): Store => ({
      ...store,
      records: {
        read: (keys) => store.records.read(keys),
        swap: (swaps) => store.records.swap(swaps),
        async scan(request) {
          const page = await store.records.scan(request);
          const isAbsent = !page.records.some(({ value }) => value.includes('"each"'));
          if (request.prefix.includes("/declared-") && isAbsent && (looks += 1) === 2) {
            await worker({ schedules: { each: EVERY_MINUTE } });
          }
          return page;
        },
      },
    });
    const { hf, said } = await worker({ schedules: { other: EVERY_MINUTE }, link });
    await leap(90 * MINUTE);
    expect(said.join()).toMatch(/schedule each is disabled/);
    expect(await hf.schedules.get("each")).toMatchObject({ enabled: true });
  });

  it("a schedule made by an operator belongs to the store, one declared in code to the code", async () => {
    await toMinute();
    const first = await worker({ schedules: { coded: EVERY_MINUTE } });
    const ops = world.process();
    const item = { type: "work", payload: null, queue: "default" };
    await ops.hf.schedules.set("made", { cron: "* * * * *", job: item }, { by: "ops" });
    const yearly = { cron: "0 0 1 1 *", job: EVERY_MINUTE.job };
    const { hf, said } = await worker({ schedules: { made: yearly } });
    expect(said.join()).toMatch(/made by an operator/);
    await passes(MINUTE + 6_000);
    expect(await ticks(hf, "made")).toHaveLength(1);
    expect(await hf.schedules.get("made")).toMatchObject({ origin: "api", cron: "* * * * *" });
    const change = ops.hf.schedules.set("coded", { cron: "* * * * *", job: item });
    await expect(change).rejects.toThrow(ScheduleInCodeError);
    await expect(ops.hf.schedules.remove("coded")).rejects.toThrow(/pause/);
    await ops.hf.schedules.remove("made", { by: "ops" });
    await passes(MINUTE + 6_000);
    await expect(first.hf.schedules.get("made")).rejects.toThrow(ScheduleNotFoundError);
    expect(await ticks(hf, "made")).toHaveLength(1);
  });

  it("while the store is away nothing fires, and once it is back what was missed is dealt with", async () => {
    await toMinute();
    const network = outage();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE }, link: network.link });
    await world.advance(10_000);
    network.mode = "away";
    await passes(3 * MINUTE);
    network.mode = "none";
    await world.advance(20_000);
    const states = (await ticks(hf)).map(({ state }) => state);
    expect(states.filter((state) => state === "fired")).toHaveLength(1);
    expect(states.filter((state) => state === "missed")).toHaveLength(2);
    expect(await jobs(hf)).toHaveLength(1);
  });

  it("a store's clock that jumps an hour fires once for it, and putting it back fires nothing again", async () => {
    await toMinute();
    const { hf } = await worker({ schedules: { each: EVERY_MINUTE } });
    await world.advance(5_000);
    world.jumpStoreClock(60 * MINUTE);
    await world.advance(35_000);
    const before = (await jobs(hf)).length;
    expect(before).toBeGreaterThanOrEqual(1);
    expect(before).toBeLessThanOrEqual(2);
    world.jumpStoreClock(-60 * MINUTE);
    await world.advance(35_000);
    const due = (await ticks(hf)).map(({ tick }) => tick.getTime());
    expect(new Set(due).size).toBe(due.length);
  });

  it("a schedule that cannot be meant is refused with what would be right", async () => {
    const { hf } = world.process();
    hf.handle("work", () => {});
    const refused = (options: unknown, message: RegExp) => {
      expect(() => hf.schedule("each", options as ScheduleOptions)).toThrow(InvalidOptionError);
      expect(() => hf.schedule("each", options as ScheduleOptions)).toThrow(message);
    };
    const { job } = EVERY_MINUTE;
    refused({ cron: "0 0 30 2 *", job }, /never fires/);
    refused({ cron: "* * * * * * *", job }, /one tick a second/);
    refused({ everyMs: 500, job }, /everyMs must be .*1000/);
    refused({ cron: "0 9 * * 1", timeZone: "Europe/Berln", job }, /Europe\/Berlin/);
    refused({ cron: "0 9 * * 1", everyMs: 5_000, job }, /either cron.*or everyMs/);
    refused({ job }, /either cron.*or everyMs/);
    refused({ cron: "0 9 * * 1", startAfterMs: 5, job }, /startAfterMs is for intervals/);
    refused({ everyMs: 5_000, timeZone: "UTC", job }, /timeZone is for cron/);
    refused({ cron: "0 9 * * 1" }, /needs a job/);
    refused({ cron: "0 9 * * 1", job: { ...job, idempotencyKey: "a" } }, /no idempotencyKey/);
    refused({ cron: "0 9 * * 1", job, overlaps: "skip" }, /overlap/);
    refused({ cron: "0 9 * * 1", job, overlap: "wait" }, /"skip" or "queue" or "cancel"/);
    for (const odd of ["", "a b", "a/b", "x".repeat(101), 7]) {
      expect(() => hf.schedule(odd as string, EVERY_MINUTE)).toThrow(InvalidNameError);
    }
    hf.schedule("each", EVERY_MINUTE);
    refused(EVERY_MINUTE, /declared already/);
    await expect(hf.schedules.get("nothing")).rejects.toThrow(ScheduleNotFoundError);
    await expect(hf.schedules.preview({ cron: "x" })).rejects.toThrow(InvalidOptionError);
    const after = new Date("2026-03-28T12:00:00Z");
    const rule = { cron: "30 2 * * *", timeZone: "Europe/Berlin" };
    const shown = await hf.schedules.preview(rule, { after, count: 2 });
    expect(shown.map((date) => date.toISOString())).toEqual([
      ...["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
    ]);
  });
});

type Verb = "insert" | "read" | "swap";

/** The store, with one verb in other hands. */
function withVerb(
  store: Store,
  verb: Verb,
  act: (call: () => Promise<unknown>, args: unknown[]) => unknown,
): Store {
  const isOfRecords = verb !== "insert";
  const changed = new Proxy((isOfRecords ? store.records : store) as object, {
    get(inner, key) {
      const member: unknown = Reflect.get(inner, key, inner);
      if (key !== verb || typeof member !== "function") return member;
      return (...args: unknown[]) => act(() => Reflect.apply(member, inner, args), args);
    },
  });
  if (!isOfRecords) return changed as Store;
  return new Proxy(store, {
    get: (inner, key) =>
      key === "records" ? changed : (Reflect.get(inner, key, inner) as unknown),
  });
}

function away(): StoreUnavailableError {
  return new StoreUnavailableError("nobody answers", { mayHaveHappened: false });
}
