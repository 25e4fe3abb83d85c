/** What people are told without asking: once, by somebody, whatever happens to the process that noticed. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidOptionError,
  PermanentError,
  StoreUnavailableError,
  type Alert,
  type DeadAlert,
  type HoldfastOptions,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { dyingAfter } from "./late.ts";
import { EVERY_STORE, openWorld, type ProcessOptions, type World } from "./world.ts";

const HOUR = 3_600_000;
const QUEUE = "holdfast.alerts";
type AlertOptions = NonNullable<HoldfastOptions["alerts"]>;

describe.each(EVERY_STORE)("alerts on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** Jobs of type mail die of what their payload names. */
  function mailing(alerts: AlertOptions = {}, options: ProcessOptions = {}) {
    const lines: { message: string; details: object | undefined }[] = [];
    const note = (message: string, details?: object) => void lines.push({ message, details });
    const logger = { debug() {}, info() {}, warn: note, error: note };
    const raised: Alert[] = [];
    const process = world.process({ alerts, logger, ...options });
    const { hf } = process;
    hf.on("alert", (alert) => void raised.push(alert));
    hf.define({
      type: "mail",
      queue: "mail",
      guidance: "Ask the postmaster.",
      link: "https://wiki.example.com/mail",
      run(job) {
        const fault = String(job.payload);
        if (fault === "401")
          throw Object.assign(new Error("token Bearer abc.def"), { status: 401 });
        throw new PermanentError(`${fault} refused`);
      },
    });
    const fail = async (faults: readonly string[]) => {
      const ids: string[] = [];
      for (const fault of faults) ids.push((await hf.enqueue("mail", fault)).id);
      return ids;
    };
    return { ...process, lines, raised, fail };
  }

  /** By the store's clock, and no timer ends by it. */
  async function later(ms: number) {
    world.jumpStoreClock(ms);
    await world.advance(1);
  }
  const dead = (alerts: readonly Alert[]) =>
    alerts.filter((alert): alert is DeadAlert => "fingerprint" in alert);
  const times = (count: number, fault = "smtp") => Array.from({ length: count }, () => fault);

  it("a spike is one structured line, one event and one notification per queue and hour", async () => {
    const told: Alert[] = [];
    const alerts = { dead: false, notify: [(alert: Alert) => void told.push(alert)] };
    const [one, two] = [mailing(alerts), mailing(alerts)];
    for (const { hf } of [one, two]) await hf.work();
    await one.fail(times(9));
    await world.advance(2_000);
    await Promise.all([one.hf.alerts.look(), two.hf.alerts.look()]);
    expect([...one.raised, ...two.raised]).toEqual([]);
    await one.fail(times(3));
    await world.advance(2_000);
    await Promise.all([one.hf.alerts.look(), two.hf.alerts.look()]);
    await one.fail(times(3));
    await world.advance(2_000);
    const raised = [...one.raised, ...two.raised];
    expect(raised).toMatchObject([{ kind: "spike", queue: "mail", threshold: 10 }]);
    const lines = [...one.lines, ...two.lines].filter(
      ({ details }) => details && "type" in details,
    );
    expect(lines.map(({ details }) => details)).toEqual([
      { type: "QUEUE_FAILURE_SPIKE", failedLastHour: 12, threshold: 10, queueName: "mail" },
    ]);
    expect(told).toEqual(raised);
    expect((await one.hf.alerts.list({ kind: "spike" })).alerts).toEqual(raised);
  });

  it("a spike is told to logs and listeners without a word of options, and null turns it off", async () => {
    const plain = mailing(undefined, { alerts: undefined });
    const off = mailing({ spike: null, dead: false });
    await plain.hf.work();
    await plain.fail(times(10));
    await world.advance(2_000);
    expect(plain.raised).toMatchObject([{ kind: "spike", failedLastHour: 10 }]);
    await off.hf.alerts.look();
    expect(off.raised).toEqual([]);
    expect((await plain.hf.ledger({ kind: "death" })).entries).toEqual([]);
  });

  it("each dead job belongs to one notification, one per fault and hour", async () => {
    const told: Alert[] = [];
    const { hf, fail } = mailing({ spike: null, notify: [(alert) => void told.push(alert)] });
    await hf.work();
    const first = await fail(["smtp", "smtp", "dns"]);
    await world.advance(2_000);
    expect(
      dead(told)
        .map(({ count }) => count)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2]);
    expect(
      dead(told)
        .flatMap(({ ids }) => ids)
        .toSorted(),
    ).toEqual(first.toSorted());
    const smtp = dead(told).find(({ count }) => count === 2);
    expect(smtp).toMatchObject({
      ...{ kind: "dead", type: "mail", queue: "mail", category: "unknown", attempts: 1 },
      ...{ error: "smtp refused", reason: "permanent", guidance: "Ask the postmaster." },
      link: "https://wiki.example.com/mail",
    });
    expect(smtp?.lastAt).toBeInstanceOf(Date);
    const more = await fail(["smtp", "smtp", "smtp"]);
    await world.advance(2_000);
    await hf.alerts.look();
    expect(told).toHaveLength(2);
    await later(HOUR);
    await hf.alerts.look();
    await world.advance(2_000);
    expect(told).toHaveLength(3);
    expect(dead(told)[2]).toMatchObject({ count: 3, fingerprint: smtp?.fingerprint });
    expect(dead(told)[2]?.ids.toSorted()).toEqual(more.toSorted());
  });

  it("missing rights are told as such, and no secret leaves", async () => {
    const told: Alert[] = [];
    const { hf, fail, lines } = mailing({ notify: [(alert) => void told.push(alert)] });
    await hf.work();
    await fail(["401"]);
    await world.advance(2_000);
    expect(told).toMatchObject([{ kind: "unrecoverable", category: "auth", count: 1 }]);
    expect(told).toMatchObject([{ guidance: "Ask the postmaster." }]);
    expect(JSON.stringify([told, lines])).not.toContain("abc.def");
    expect(JSON.stringify(told)).toContain("Bearer [REDACTED]");
  });

  it("a process that dies before it looked loses no dead job", async () => {
    const told: Alert[] = [];
    const alerts = { spike: null, notify: [(alert: Alert) => void told.push(alert)] };
    const one = mailing(alerts);
    await one.hf.work();
    const ids = await one.fail(times(3));
    await world.until(async () => (await world.store.count())[0]?.dead === 3);
    one.kill();
    const two = mailing(alerts);
    await two.hf.work();
    await two.hf.alerts.look();
    await world.advance(2_000);
    expect(dead(told)).toMatchObject([{ count: 3 }]);
    expect(dead(told)[0]?.ids.toSorted()).toEqual(ids.toSorted());
  });

  it("a process that dies before it stored its deliveries loses no alert", async () => {
    const told: Alert[] = [];
    const alerts = { spike: null, notify: [(alert: Alert) => void told.push(alert)] };
    const link = (store: Store) =>
      overriding(store, {
        insert: (jobs, options) =>
          jobs[0]?.queue === QUEUE ? Promise.reject(away()) : store.insert(jobs, options),
      });
    const one = mailing(alerts, { link });
    await one.hf.work();
    await one.fail(["smtp"]);
    await world.advance(2_000);
    expect(one.raised).toHaveLength(1);
    one.kill();
    const two = mailing(alerts);
    await two.hf.work();
    await two.hf.alerts.look();
    expect(two.raised).toEqual([]);
    await later(31_000);
    await two.hf.alerts.look();
    await world.advance(2_000);
    expect(told).toEqual(two.raised);
    expect(dead(told)).toMatchObject([{ count: 1 }]);
    await two.hf.alerts.look();
    await world.advance(2_000);
    expect(told).toHaveLength(1);
  });

  it("a death that was counted by a process that died then is not counted again", async () => {
    const told: Alert[] = [];
    const alerts = { spike: null, notify: [(alert: Alert) => void told.push(alert)] };
    const link = (store: Store) => {
      const amend = () => Promise.reject(away());
      return overriding(store, { ledger: { ...ledgerOf(store), amend } });
    };
    const one = mailing(alerts, { link });
    await one.hf.work();
    await one.fail(["smtp", "smtp"]);
    await world.advance(3_000);
    expect(dead(told)).toMatchObject([{ count: 2 }]);
    one.kill();
    const two = mailing(alerts);
    await two.hf.work();
    await two.fail(["smtp"]);
    await world.advance(2_000);
    await later(HOUR);
    await two.hf.alerts.look();
    await world.advance(2_000);
    expect(dead(told).map(({ count }) => count)).toEqual([2, 1]);
  });

  it("processes that gather at the same time count each death once", async () => {
    const told: Alert[] = [];
    const alerts = { spike: null, notify: [(alert: Alert) => void told.push(alert)] };
    const fleet = [mailing(alerts), mailing(alerts), mailing(alerts)];
    for (const { hf } of fleet) await hf.work();
    await fleet[0]!.fail([...times(20, "smtp"), ...times(20, "dns")]);
    await world.advance(1_000);
    await Promise.all(fleet.map(({ hf }) => hf.alerts.look()));
    await later(HOUR);
    await Promise.all(fleet.map(({ hf }) => hf.alerts.look()));
    await world.advance(2_000);
    const counts = dead(told).reduce((sum, { count }) => sum + count, 0);
    expect(counts).toBe(40);
    expect(new Set(dead(told).flatMap(({ ids }) => ids)).size).toBe(40);
  });

  it("a channel that fails is tried again, and no other hears of it twice", async () => {
    const heard: string[] = [];
    let failures = 0;
    const { hf, fail } = mailing({
      spike: null,
      notify: [
        function pager() {
          heard.push("pager");
          if ((failures += 1) < 3) throw new Error("the pager is away");
        },
        function chat() {
          heard.push("chat");
        },
      ],
    });
    await hf.work();
    await fail(["smtp"]);
    await world.advance(60_000);
    expect(heard.toSorted()).toEqual(["chat", "pager", "pager", "pager"]);
  });

  it("an alert that is not taken after five attempts is a line in the log, and no alert", async () => {
    const pager = () => {
      throw new PermanentError("no such pager");
    };
    const { hf, fail, lines, raised } = mailing({ spike: { failures: 1 }, notify: [pager] });
    await hf.work();
    await fail(["smtp"]);
    await world.advance(3_000);
    await hf.alerts.look();
    expect(raised.map(({ kind }) => kind).toSorted()).toEqual(["dead", "spike"]);
    const undelivered = lines.filter(({ message }) => message.includes("could not be delivered"));
    expect(undelivered).toHaveLength(2);
    expect((await hf.counts())[QUEUE]).toMatchObject({ dead: 2 });
  });

  it("queues that are late or deep are told of once an hour", async () => {
    const { hf, raised } = mailing({ lagMs: 60_000, depth: 3 });
    for (let count = 0; count < 3; count += 1) await hf.enqueue("mail", "smtp");
    await hf.alerts.look();
    expect(raised).toMatchObject([{ kind: "depth", queue: "mail", waiting: 3, threshold: 3 }]);
    await later(60_000);
    await hf.alerts.look();
    await hf.alerts.look();
    const [, lag, ...rest] = raised;
    expect(lag).toMatchObject({ kind: "lag", queue: "mail", thresholdMs: 60_000 });
    expect((lag as { oldestWaitingMs: number }).oldestWaitingMs).toBeGreaterThanOrEqual(60_000);
    expect(rest).toEqual([]);
    await later(HOUR);
    await hf.alerts.look();
    expect(raised).toHaveLength(4);
  });

  it("a store that is nearly full is told of; one that does not say is named", async () => {
    const link = (store: Store) =>
      overriding(store, {
        info: () => ({ ...store.info(), usedMemoryBytes: 85, maxMemoryBytes: 100 }),
      });
    const full = mailing({ memory: 0.8 }, { link });
    await full.hf.alerts.look();
    expect(full.raised).toMatchObject([{ kind: "memory", share: 0.85, threshold: 0.8 }]);
    if (name === "redis") return;
    const silent = mailing({ memory: 0.8 });
    await silent.hf.work();
    await world.advance(61_000);
    const said = silent.lines.map(({ message }) => message).join();
    expect(said).toContain("alerts.memory has no effect");
  });

  it("an operation that stops itself is told of once", async () => {
    const one = mailing({ spike: null, dead: false });
    const two = mailing({ spike: null, dead: false });
    for (const { hf } of [one, two]) await hf.work();
    await one.fail(times(40));
    await world.advance(1_000);
    const plan = await one.hf.deadLetters.plan();
    const { id } = await plan.start({ perSecond: 10, stopAtFailureRate: 0.5, by: "ops" });
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await world.advance(1_000);
      if ([...one.raised, ...two.raised].length > 0) break;
    }
    await world.advance(5_000);
    expect([...one.raised, ...two.raised]).toMatchObject([
      { kind: "operation", operation: id, action: "retry", of: 40, by: "ops" },
    ]);
  });

  it("a spike or an operation whose process died over it is told of once by another, unasked", async () => {
    const alerts = { dead: false };
    const about = (word: string, die: () => void) =>
      dyingAfter(({ key }) => key.includes(`/alerts/about/${word}/`), die);
    const one = mailing(alerts, { link: about("spike", () => one.kill()) });
    await one.hf.work();
    await one.fail(times(20));
    await world.advance(2_000);
    expect(one.raised).toEqual([]);
    const two = mailing(alerts);
    await two.hf.work();
    await later(31_000);
    await world.advance(61_000);
    expect(two.raised).toMatchObject([{ kind: "spike" }]);
    await two.hf.close();
    const carrier = mailing(alerts, { link: about("operation", () => carrier.kill()) });
    await carrier.hf.work();
    const plan = await carrier.hf.deadLetters.plan();
    const { id } = await plan.start({ stopAtFailureRate: 0.5 });
    const three = mailing(alerts);
    for (let seconds = 0; seconds < 30; seconds += 1) {
      if ((await three.hf.operations.get(id)).state === "stopped") break;
      await world.advance(1_000);
    }
    await world.advance(3_000);
    await later(31_000);
    await three.hf.alerts.look();
    expect(three.raised).toMatchObject([{ kind: "operation", operation: id }]);
    await later(HOUR);
    const four = mailing(alerts);
    await four.hf.work();
    await world.advance(3_000);
    expect(four.raised).toEqual([]);
  });

  it("queues that go on failing keep no other from being counted", async () => {
    const { hf, raised } = mailing({ dead: false, spike: { failures: 15 } });
    hf.define({
      type: "flaky",
      retry: { maxAttempts: 20, baseMs: 50_000, maxMs: 50_000, jitter: 0 },
      run() {
        throw new Error("refused");
      },
    });
    const others = Array.from({ length: 100 }, (_, at) => `other-${at}`);
    await hf.work({ queues: [...others, "flaky"], concurrency: 50 });
    const queues = [...others, ...Array.from({ length: 20 }, () => "flaky")];
    await hf.enqueueAll(queues.map((queue) => ({ type: "flaky", payload: null, queue })));
    await world.advance(3 * 60_000);
    expect(raised).toMatchObject([{ kind: "spike", queue: "flaky" }]);
  });

  it("a delivery whose channel this process does not have waits for one that has it", async () => {
    const told: Alert[] = [];
    const one = mailing({ spike: null, notify: [function pager() {}] });
    await one.fail(["smtp"]);
    const worker = await one.hf.work({ queues: ["mail"] });
    await world.until(async () =>
      (await world.store.count()).some(({ dead: count }) => count === 1),
    );
    await worker.stop();
    await one.hf.alerts.look();
    const other = mailing({ notify: [function chat() {}] });
    const wrong = await other.hf.work();
    await world.advance(1_000);
    expect((await other.hf.counts())[QUEUE]).toMatchObject({ delayed: 1, succeeded: 0 });
    await wrong.stop();
    const right = mailing({
      notify: [
        function pager(alert: Alert) {
          told.push(alert);
        },
      ],
    });
    await right.hf.work();
    await world.advance(20_000);
    expect(dead(told)).toMatchObject([{ count: 1 }]);
  });

  it("alert options that are none are refused with what would be one", () => {
    const make =
      (alerts: object, more: ProcessOptions = {}) =>
      () =>
        world.process({ alerts: alerts as AlertOptions, ...more });
    expect(make({ spikes: null })).toThrow(/did you mean "spike"/);
    expect(make({ memory: 80 })).toThrow(/alerts\.memory must be a number from 0\.01 to 1/);
    expect(make({ lagMs: "5m" })).toThrow(InvalidOptionError);
    expect(make({ spike: { failures: 0 } })).toThrow(/alerts\.spike\.failures/);
    expect(make({ notify: ["https://example.com"] })).toThrow(/webhook\(\{ url, secret \}\)/);
    expect(make({ dead: true }, { ledger: false })).toThrow(/ledger: false/);
    const { hf } = world.process();
    const define = (more: object) => () => hf.define({ type: "x", run() {}, ...more });
    expect(define({ link: "javascript:alert(1)" })).toThrow(/begins with https/);
    expect(define({ guidance: "" })).toThrow(/guidance/);
  });
});

function away() {
  return new StoreUnavailableError("away", { mayHaveHappened: false });
}

/** Stores are objects of closures, some with getters: what is not named stays theirs. */
function overriding(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, member) => Reflect.get(member in changes ? changes : target, member) as unknown,
  });
}

function ledgerOf({ ledger }: Store): Store["ledger"] {
  return {
    append: (entries) => ledger.append(entries),
    read: (filter, page) => ledger.read(filter, page),
    amend: (amendments) => ledger.amend(amendments),
    count: (filter, upTo) => ledger.count(filter, upTo),
    trim: (request) => ledger.trim(request),
    remove: (...request) => ledger.remove(...request),
  };
}
