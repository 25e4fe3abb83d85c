import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

const PATIENT = { patienceMs: 60_000 };

describe("Turns", () => {
  it("runs so many at once, and the others in their order", async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map((n) =>
      turns.run(() => {
        begun.push(n);
        return new Promise<void>((resolve) => ends.push(resolve));
      }, PATIENT),
    );
    expect(begun).toEqual([0, 1]);
    ends[1]?.();
    await all[1];
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.();
    await all[0];
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]?.();
    ends[3]?.();
    expect(await Promise.all(all)).toEqual([true, true, true, true]);
  });

  it("lets one go whose turn does not come, and keeps its place for the next", async () => {
    const turns = new Turns(1);
    let end = () => {};
    const first = turns.run(() => new Promise<void>((resolve) => (end = resolve)), PATIENT);
    const never = async () => expect.unreachable();
    expect(await turns.run(never, { patienceMs: 1 })).toBe(false);
    const third = turns.run(async () => {}, PATIENT);
    end();
    expect([await first, await third]).toEqual([true, true]);
    expect(await turns.run(async () => {}, { patienceMs: 1 })).toBe(true);
  });

  it("gives the place back after one that fails", async () => {
    const turns = new Turns(1);
    const fails = turns.run(() => Promise.reject(new Error("no sheet")), PATIENT);
    await expect(fails).rejects.toThrow("no sheet");
    expect(await turns.run(async () => {}, { patienceMs: 1 })).toBe(true);
  });
});
