import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** As a browser has it, as far as it is used; what a server would do is done by the tests. */
class Stream {
  static readonly CLOSED = 2;
  static all: Stream[] = [];
  readonly #listeners = new Map<string, (event: { data: string }) => void>();
  readyState = 0;

  constructor() {
    Stream.all.push(this);
  }
  addEventListener(name: string, listener: (event: { data: string }) => void) {
    this.#listeners.set(name, listener);
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
  send(name: string, data: unknown) {
    if (this.readyState !== Stream.CLOSED)
      this.#listeners.get(name)?.({ data: JSON.stringify(data) });
  }
}

const overview = (ready: number) => ({
  at: new Date().toISOString(),
  totals: { ready, oldestReadyAt: null, processing: 0 },
  queues: [],
});

async function page() {
  vi.resetModules();
  const [live, visible] = [await import("./live.ts"), await import("./visible.ts")];
  live.startLive();
  return { ...live, ...visible, stream: () => Stream.all.at(-1) as Stream };
}

describe("the live overview", () => {
  /** How each question is answered; how many there were. */
  let answer: (signal: AbortSignal) => Promise<Response>;
  let asked = 0;

  beforeEach(() => {
    vi.useFakeTimers();
    Stream.all = [];
    asked = 0;
    vi.stubGlobal("EventSource", Stream);
    vi.stubGlobal("document", { visibilityState: "visible", addEventListener() {} });
    vi.stubGlobal("fetch", (_: unknown, { signal }: { signal: AbortSignal }) => {
      asked += 1;
      return answer(signal);
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("asks one question at a time in an outage, however long it lasts", async () => {
    // No packet comes back: neither the stream nor a question is answered.
    answer = () =>
      new Promise((_, reject) => setTimeout(() => reject(new TypeError("no answer")), 35_000));
    const { live, stopLive } = await page();
    await vi.advanceTimersByTimeAsync(30 * 60_000);
    expect(live.get().state).toBe("unreachable");
    asked = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBeLessThanOrEqual(2);
    stopLive();
    asked = 0;
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(asked).toBe(0);
  });

  it("keeps the newest, whichever way an older one comes late", async () => {
    let late: (response: Response) => void = () => {};
    answer = () => new Promise((resolve) => (late = resolve));
    const { live, isVisible, stream, stopLive } = await page();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toBe(1);
    isVisible.set(false);
    isVisible.set(true);
    stream().send("overview", overview(2));
    expect(live.get()).toMatchObject({ state: "live", overview: { totals: { ready: 2 } } });
    late(Response.json({ success: true, data: overview(1) }));
    await vi.advanceTimersByTimeAsync(100);
    expect(live.get()).toMatchObject({ state: "live", overview: { totals: { ready: 2 } } });
    stopLive();
  });

  it("notices a stream that was lost while the store was away", async () => {
    answer = async () => Response.json({ success: true, data: overview(3) });
    const { live, stream, stopLive } = await page();
    stream().send("overview", overview(1));
    stream().send("store", { isAway: true });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(live.get()).toMatchObject({ isStoreAway: true });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(live.get()).toMatchObject({ isStoreAway: false, overview: { totals: { ready: 3 } } });
    stopLive();
  });

  it("tells the next who logs in nothing of what was seen before", async () => {
    const { live, samples, stream, startLive, stopLive } = await page();
    stream().send("overview", overview(1));
    expect(samples.all).toHaveLength(1);
    stopLive();
    startLive();
    expect(live.get().overview).toBeNull();
    expect(samples.all).toHaveLength(0);
    stopLive();
    expect(vi.getTimerCount()).toBe(1); // The clock of the page.
  });
});
