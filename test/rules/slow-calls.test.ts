/** Calls of the store that hang for a while before they fail. In real time: virtual time waits for every call. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Holdfast, StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { signal } from "./world.ts";

function hanging(
  verb: "lease" | "renew",
  {
    ms,
    onOver = () => {},
  }: {
    readonly ms: number;
    readonly onOver?: () => void;
  },
) {
  const state = { hangs: false, renewals: 0 };
  const store = new Proxy(memoryStore(), {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== verb) return member;
      return async (...args: unknown[]): Promise<unknown> => {
        if (state.hangs) {
          await sleep(ms);
          onOver();
          throw new StoreUnavailableError("nobody answers", { mayHaveHappened: false });
        }
        if (verb === "renew") state.renewals += (args[0] as unknown[]).length;
        return Reflect.apply(member as () => unknown, target, args);
      };
    },
  }) as Store;
  return { store, state };
}

it("an outage leaves no pile of renewals behind", async () => {
  const { store, state } = hanging("renew", { ms: 700 });
  const hf = new Holdfast({ store });
  const end = signal();
  hf.define({ type: "long", onOutage: "continue", run: () => end.reached });
  for (let n = 0; n < 5; n += 1) await hf.enqueue("long", null);
  await hf.work({ leaseMs: 1_000, renewMs: 100 });
  await expect.poll(() => state.renewals).toBeGreaterThan(5);
  state.hangs = true;
  await sleep(1_500);
  Object.assign(state, { hangs: false, renewals: 0 });
  await expect.poll(() => state.renewals).toBeGreaterThan(0);
  // One each that was due, and those of a tick or two.
  expect(state.renewals).toBeLessThanOrEqual(15);
  end.reach();
  await hf.close();
});

it("one renewal that hangs until the next is due loses no lease", async () => {
  const { store, state } = hanging("renew", { ms: 1_200, onOver: () => (state.hangs = false) });
  const hf = new Holdfast({ store });
  const end = signal();
  let wasAborted = false;
  hf.define({
    type: "long",
    run: ({ signal: stop }) => {
      stop.addEventListener("abort", () => (wasAborted = true));
      return end.reached;
    },
  });
  const { id } = await hf.enqueue("long", null);
  state.hangs = true;
  await hf.work({ leaseMs: 3_000, renewMs: 1_000 });
  await expect.poll(() => state.renewals, { timeout: 10_000 }).toBeGreaterThan(1);
  await sleep(1_000);
  expect(wasAborted).toBe(false);
  end.reach();
  await expect.poll(async () => (await hf.job(id))?.status).toBe("succeeded");
  expect(await hf.job(id)).toMatchObject({ attempts: 1, crashes: 0 });
  await hf.close();
});

it("the grace of a stop begins at once, whatever a call that is on its way takes", async () => {
  const events: string[] = [];
  const { store, state } = hanging("lease", { ms: 1_500, onOver: () => events.push("answered") });
  const hf = new Holdfast({ store });
  const started = signal();
  hf.define({
    type: "long",
    run: ({ signal: stop }) => {
      started.reach();
      return new Promise((_, reject) => {
        stop.addEventListener("abort", () => {
          events.push("aborted");
          reject(stop.reason as Error);
        });
      });
    },
  });
  await hf.enqueue("long", null);
  const worker = await hf.work({ concurrency: 2, pollMs: 10, graceMs: 100 });
  await started.reached;
  state.hangs = true;
  await sleep(100);
  await worker.stop();
  expect(events).toEqual(["aborted", "answered"]);
  await hf.close();
});

it("a replay that fails too often stops by itself also while it is never idle", async () => {
  const store = memoryStore();
  const slow = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== "revive") return member;
      return async (...args: unknown[]) => {
        await sleep(200);
        return Reflect.apply(member as () => unknown, target, args);
      };
    },
  });
  const hf = new Holdfast({ store: slow });
  hf.define({
    type: "mail",
    retry: { maxAttempts: 1 },
    run() {
      throw new Error("no such mailbox");
    },
  });
  await hf.enqueueAll(Array.from({ length: 1_000 }, () => ({ type: "mail", payload: null })));
  await hf.work({ concurrency: 100 });
  const dead = async () => (await hf.deadLetters.summary()).total;
  await expect.poll(dead, { timeout: 10_000 }).toBe(1_000);
  const { id } = await (await hf.deadLetters.plan()).start({ stopAtFailureRate: 0.5 });
  const state = async () => (await hf.operations.get(id)).state;
  await expect.poll(state, { timeout: 20_000 }).toBe("stopped");
  expect((await hf.operations.get(id)).done).toBeLessThan(1_000);
  await hf.close();
});
