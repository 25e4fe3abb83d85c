import { describe, expect, it } from "vitest";
import { Clearing } from "./clearing.ts";

/** What has come to its end after a turn of the event loop. */
async function ended(waits: Readonly<Record<string, Promise<void>>>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, wait] of Object.entries(waits)) void wait.then(() => names.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return names;
}

describe("what is being cleared", () => {
  it("keeps those waiting who look at the same lines, and who look everywhere", async () => {
    const clearing = new Clearing();
    let finish: () => void = () => {};
    const going = new Promise<void>((resolve) => (finish = resolve));
    clearing.begin(going, { after: "b", until: "d" });
    const waits = {
      before: clearing.done({ after: null, until: "b" }),
      behind: clearing.done({ after: "d", until: null }),
      among: clearing.done({ after: "c", until: "x" }),
      around: clearing.done({ after: "a", until: "z" }),
      everywhere: clearing.done(),
    };
    expect(await ended(waits)).toEqual(["before", "behind"]);
    finish();
    expect(await ended(waits)).toEqual(Object.keys(waits));
  });

  it("keeps everybody waiting if it may be anywhere", async () => {
    const clearing = new Clearing();
    clearing.begin(new Promise(() => {}));
    expect(await ended({ some: clearing.done({ after: "a", until: "b" }) })).toEqual([]);
  });

  it("keeps nobody waiting once it has failed", async () => {
    const clearing = new Clearing();
    clearing.begin(Promise.reject(new Error("away")));
    await clearing.done();
  });
});
