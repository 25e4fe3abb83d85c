import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Clock } from "./clock.ts";
import type { DbLike, Document } from "./driver-like.ts";

const START = Date.UTC(2031, 0, 1);

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** A server that says the time when it is asked; what it said arrives when the test lets it. */
class Server {
  readonly #replies: (() => void)[] = [];
  asked = 0;

  readonly db = {
    command: (): Promise<Document> => {
      this.asked += 1;
      const localTime = new Date(START + performance.now());
      return new Promise((resolve) => this.#replies.push(() => resolve({ localTime })));
    },
  } as unknown as DbLike;

  async replyTo<T>(call: Promise<T>): Promise<T> {
    for (const reply of this.#replies.splice(0)) reply();
    return call;
  }
}

describe("the clock of the server", () => {
  it("is carried on for a moment, and then asked again", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    expect(await server.replyTo(clock.now(server.db, {}))).toBe(START);
    vi.advanceTimersByTime(60);
    expect(await clock.now(server.db, {})).toBe(START + 60);
    expect(server.asked).toBe(1);
    vi.advanceTimersByTime(60);
    expect(await server.replyTo(clock.now(server.db, {}))).toBe(START + 120);
    expect(server.asked).toBe(2);
  });

  it("is asked again by whoever comes after an answer that was read late", async () => {
    const [clock, server] = [new Clock(null), new Server()];
    const frozen = clock.now(server.db, {});
    vi.advanceTimersByTime(13_000);
    expect(await server.replyTo(frozen)).toBe(START);
    // Else a lease would be over when it begins.
    expect(await server.replyTo(clock.now(server.db, {}))).toBe(START + 13_000);
  });

  it("never goes back", async () => {
    const clock = new Clock(null);
    clock.saw(START + 5_000);
    const server = new Server();
    expect(await server.replyTo(clock.now(server.db, {}))).toBe(START + 5_000);
  });
});
