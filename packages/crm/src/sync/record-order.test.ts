import { describe, expect, it } from "vitest";
import { testHoldfast } from "holdfast/testing";
import { RecordOrder } from "./record-order.ts";

describe("the order of a record", () => {
  it("names all jobs that were enqueued at the same moment, and drops those that are behind", async () => {
    const { hf } = testHoldfast();
    const order = new RecordOrder(hf, "desk");
    const [first] = await order.places(["person 1"]);
    const [same] = await order.places(["person 1"]);
    await order.take(first!, "a");
    await order.take(same!, "b");
    const [next] = await order.places(["person 1"]);
    expect(next?.after).toEqual(["a", "b"]);
    await order.take(next!, "c");
    expect((await order.places(["person 1"]))[0]?.after).toEqual(["c"]);
    await hf.close();
  });

  it("keeps the others where an enqueue found a job that was there", async () => {
    const { hf } = testHoldfast();
    const order = new RecordOrder(hf, "desk");
    for (const id of ["a", "b"]) await order.take((await order.places(["p"]))[0]!, id);
    await order.take((await order.places(["p"]))[0]!, "a", { isNew: false });
    expect((await order.places(["p"]))[0]?.after).toEqual(["b", "a"]);
    await hf.close();
  });

  it("is the same after a write whose answer was lost", async () => {
    const { hf } = testHoldfast();
    const order = new RecordOrder(hf, "desk");
    const [place] = await order.places(["p"]);
    await order.take(place!, "a");
    await order.take(place!, "a");
    expect((await order.places(["p"]))[0]?.after).toEqual(["a"]);
    await hf.close();
  });

  it("lets a job wait for those that have not finished, and for no other", async () => {
    const t = testHoldfast();
    const order = new RecordOrder(t.hf, "desk");
    t.hf.handle("x", () => {});
    const { id } = await t.hf.enqueue("x", null, { queue: "q", delayMs: 5_000 });
    const job = { meta: { after: [id, "gone"] }, createdAt: new Date(t.now()) };
    expect(await order.waitMs(job)).toBe(5_250);
    await t.hf.cancel(id);
    expect(await order.waitMs(job)).toBeNull();
    expect(await order.waitMs({ ...job, meta: null })).toBeNull();
    await t.hf.close();
  });

  it("has one enqueue of this process after the other, also past one that failed", async () => {
    const { hf } = testHoldfast();
    const order = new RecordOrder(hf, "desk");
    const behind: string[] = [];
    const all = Array.from({ length: 60 }, (_, at) =>
      order.inLine("p", async () => {
        const [place] = await order.places(["p"]);
        behind.push(`${at} after ${place!.after.join()}`);
        if (at === 7) throw new Error("refused");
        await order.take(place!, String(at));
      }),
    );
    const ends = await Promise.allSettled(all);
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
    const before = (at: number) => (at === 0 ? "" : at === 8 ? "6" : String(at - 1));
    expect(behind).toEqual(ends.map((_, at) => `${at} after ${before(at)}`));
    await hf.close();
  });

  it("has a key for whatever a record is called", async () => {
    const { hf } = testHoldfast();
    expect(await new RecordOrder(hf, "desk").places(["half \ud800 a letter"])).toHaveLength(1);
    await hf.close();
  });
});
