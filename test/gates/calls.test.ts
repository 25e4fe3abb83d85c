/** What calls outside of jobs leave behind in their process. Counted, not weighed: a heap grows and shrinks by itself. */
import { getEventListeners } from "node:events";
import { queryObjects } from "node:v8";
import { expect, it } from "vitest";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";

/** Promises that are still reachable. */
const kept = (): number => queryObjects(Promise, { format: "count" });

it("a call that a gate lets through leaves nothing behind", { timeout: 60_000 }, async () => {
  const hf = new Holdfast({ store: memoryStore() });
  await hf.gates.set("api", { rate: { limit: 1_000_000, perMs: 1_000 } });
  const { signal } = new AbortController();
  const calls = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      await hf.gates.acquire("api", at % 2 === 0 ? { signal } : {});
    }
  };
  // What is made once is there by then.
  await calls(100);
  const before = kept();
  await calls(1_000);
  // One for each call would be a thousand; what else lives in a process comes and goes by tens.
  expect(kept() - before).toBeLessThan(500);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await hf.close();
});
