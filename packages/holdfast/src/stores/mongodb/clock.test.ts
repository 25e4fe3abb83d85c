import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mongodbWorld } from "../../../../../test/servers/mongodb-world.ts";
import { insertOne } from "../../testing/conformance/new-job.ts";
import { takeNothing, takeOne } from "../../testing/conformance/take.ts";
import { Clock, type ClockHead } from "./clock.ts";

const START = Date.UTC(2031, 0, 1);
const HOUR_MS = 3_600_000;

/** A server that says the time when it is asked; what it said arrives when the test lets it. */
class Server implements ClockHead {
  readonly #replies: (() => void)[] = [];
  asked = 0;
  marked = START;

  read(): Promise<{ now: number; host: number }> {
    this.asked += 1;
    const said = { now: this.marked, host: START + performance.now() };
    return new Promise((resolve) => this.#replies.push(() => resolve(said)));
  }

  async mark(): Promise<{ now: number }> {
    this.marked = START + performance.now();
    return { now: this.marked };
  }

  async replyTo<T>(call: Promise<T>): Promise<T> {
    for (const reply of this.#replies.splice(0)) reply();
    return call;
  }
}

describe("the clock of the server", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("is carried on for a moment, and then asked again", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    expect(await server.replyTo(clock.now(server))).toBe(START);
    vi.advanceTimersByTime(60);
    expect(await clock.now(server)).toBe(START + 60);
    expect(server.asked).toBe(1);
    vi.advanceTimersByTime(60);
    expect(await server.replyTo(clock.now(server))).toBe(START + 120);
    expect(server.asked).toBe(2);
  });

  it("is idle once its mark is written, which no reader waits for", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    server.mark = async () => {
      await written;
      return { now: (server.marked = START + performance.now()) };
    };
    vi.advanceTimersByTime(1_000);
    expect(await server.replyTo(clock.now(server))).toBe(START + 1_000);
    let isIdle = false;
    const idle = clock.idle().then(() => (isIdle = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIdle).toBe(false);
    write();
    await idle;
    expect(server.marked).toBe(START + 1_000);
  });

  it("is asked again when the machine has slept", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    await server.replyTo(clock.now(server));
    vi.useFakeTimers({ toFake: ["performance", "Date"], now: Date.now() + HOUR_MS });
    await server.replyTo(clock.now(server));
    expect(server.asked).toBe(2);
  });

  it("is asked again by whoever comes after an answer that was read late", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    const frozen = clock.now(server);
    vi.advanceTimersByTime(13_000);
    expect(await server.replyTo(frozen)).toBe(START);
    // Else a lease would be over when it begins.
    expect(await server.replyTo(clock.now(server))).toBe(START + 13_000);
  });

  it("never goes back", async () => {
    const clock = new Clock(null);
    clock.saw(START + 500);
    const server = new Server();
    expect(await server.replyTo(clock.now(server))).toBe(START + 500);
  });

  it("is marked every half second and not more often", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    vi.advanceTimersByTime(450);
    await server.replyTo(clock.now(server));
    expect(server.marked).toBe(START);
    vi.advanceTimersByTime(101);
    await server.replyTo(clock.now(server));
    expect(server.marked).toBe(START + 551);
  });
});

describe("a clock that was ahead and is put right", () => {
  const world = mongodbWorld();

  /** An hour ahead, and back: the store's time then. */
  async function putRight(): Promise<number> {
    await world.store.now();
    world.now += HOUR_MS;
    const ahead = await world.store.now();
    world.now -= HOUR_MS;
    expect(await world.store.now()).toBe(ahead);
    return ahead;
  }

  it("goes on at nine tenths of its pace until the right time has caught up", async () => {
    const ahead = await putRight();
    for (const [after, passed] of [
      [10_000, 9_000],
      [HOUR_MS / 2, 0.45 * HOUR_MS],
      [HOUR_MS, 0.9 * HOUR_MS],
    ] as const) {
      world.now = ahead - HOUR_MS + after;
      expect(await world.store.now()).toBe(ahead + passed);
    }
    world.now = ahead + 9 * HOUR_MS + 1;
    expect(await world.store.now()).toBe(world.now);
    world.now += 1_000;
    expect(await world.store.now()).toBe(world.now);
  });

  it("lets jobs fall due meanwhile, in every process", async () => {
    await putRight();
    const other = await world.process(world.database.db);
    const job = await insertOne(world.store, { delayMs: 9_000 });
    world.now += 9_999;
    await takeNothing(other);
    world.now += 2;
    expect((await takeOne(other)).id).toBe(job.id);
    await other.close();
  });

  it("is anchored again by another step back", async () => {
    const ahead = await putRight();
    world.now -= 60_000;
    expect(await world.store.now()).toBe(ahead);
    world.now += 10_000;
    expect(await world.store.now()).toBe(ahead + 9_000);
  });

  it("only waits where it was less than a second ahead", async () => {
    const before = await world.store.now();
    world.now -= 900;
    expect(await world.store.now()).toBe(before);
    world.now += 800;
    expect(await world.store.now()).toBe(before);
    world.now += 200;
    expect(await world.store.now()).toBe(before + 100);
  });
});
