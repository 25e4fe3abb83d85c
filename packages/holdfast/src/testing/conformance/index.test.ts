import assert from "node:assert/strict";
import { describe, it, vi } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import type { ConformanceOptions } from "./index.ts";
import { storeConformance } from "./index.ts";

/** Registers the suite without running it; answers the names of its tests. */
function registered(options: Partial<ConformanceOptions> = {}): string[] {
  const names: string[] = [];
  storeConformance({
    describe: (_, body) => body(),
    it: (name) => void names.push(name),
    place: async () => ({
      open: async () => memoryStore(),
      advance: async () => {},
      dispose: async () => {},
    }),
    ...options,
  });
  return names;
}

describe("the conformance suite", () => {
  it("gives every scenario a name of its own", () => {
    const names = registered({ transactions: true, rewinds: true });
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.length >= 450, `${names.length} scenarios`);
  });

  it("runs what needs transactions or a movable clock only where they are declared", () => {
    const everywhere = new Set(registered());
    const within = registered({ transactions: true }).filter((name) => !everywhere.has(name));
    const clock = registered({ rewinds: true }).filter((name) => !everywhere.has(name));
    assert.ok(within.length > 0 && clock.length > 0);
  });

  it("leaves out a declared difference and prints its reason", () => {
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    const skipped = "an insert wakes those who listen";
    const names = registered({ skip: [{ reason: "no wakeups", tests: [skipped] }] });
    const printed = info.mock.calls.flat().join("\n");
    info.mockRestore();
    assert.ok(!names.includes(skipped));
    assert.match(printed, /not run: wakeup: an insert wakes those who listen \(no wakeups\)/);
  });

  it("refuses to skip what is no scenario", () => {
    assert.throws(
      () => registered({ skip: [{ reason: "renamed", tests: ["no such scenario"] }] }),
      /no scenario is called "no such scenario"/,
    );
  });

  it("fails a store whose transactions were not declared", async () => {
    let law = async (): Promise<void> => {};
    storeConformance({
      describe: (_, body) => body(),
      it: (name, body) => void (name.startsWith("law 10") && (law = body)),
      place: async () => ({
        open: async () => {
          const store = memoryStore();
          return {
            ...store,
            info: () => ({ ...store.info(), transactions: true }),
            within: () => assert.fail(),
          };
        },
        advance: async () => {},
        dispose: async () => {},
      }),
    });
    await assert.rejects(law(), assert.AssertionError);
  });
});
