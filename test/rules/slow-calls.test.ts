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
  // What is sent at once.
  expect(state.renewals).toBeLessThanOrEqual(5);
  end.reach();
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
