import { describe, expect, it } from "vitest";
import { testHoldfast } from "holdfast/testing";
import { MOST_PLACES, type RecordLine } from "./record-line.ts";
import { RecordOrder } from "./record-order.ts";

/** A desk whose jobs run only when a test says so. */
function desk() {
  const t = testHoldfast();
  t.hf.handle("x", () => {});
  const order = new RecordOrder(t.hf, "desk");
  return {
    ...{ t, hf: t.hf, order },
    async line(record = "p") {
      return (await t.hf.records.get<RecordLine>(`crm/desk/line/${record}`))?.value;
    },
    /** As an enqueue does it, in a process of its own. */
    async add(options: { delayMs?: number } = {}) {
      const place = (await new RecordOrder(t.hf, "desk").take("p"))!;
      const { id } = await t.hf.enqueue("x", null, { queue: "q", meta: { place }, ...options });
      await order.name("p", place, id);
      const job = (await t.hf.job(id))!;
      return { id, place, meta: { place }, createdAt: job.createdAt };
    },
    begin: (job: { id: string; meta: { place: number } | null; createdAt: Date }) =>
      order.begin("p", job, ["tier"]),
  };
}

describe("the order of a record", () => {
  it("gives a place of its own to each of many that ask at the same moment, in as many processes", async () => {
    const { hf, line } = desk();
    const all = Array.from({ length: 30 }, () => new RecordOrder(hf, "desk").take("p"));
    const places = await Promise.all(all);
    expect(new Set(places).size).toBe(30);
    expect((await line())?.places.map(([number]) => number)).toEqual(
      places.toSorted((a, b) => a! - b!),
    );
    await hf.close();
  });

  it("lets a job wait for those in front of it that have not finished, and for no other", async () => {
    const { hf, add, begin } = desk();
    const first = await add({ delayMs: 5_000 });
    const second = await add();
    const third = await add();
    expect(await begin(second)).toEqual({ waitMs: 5_250 });
    expect(await begin(third)).toMatchObject({ waitMs: expect.any(Number) as number });
    await hf.cancel(first.id);
    expect(await begin(second)).toEqual({ waitMs: null, stale: new Set() });
    expect(await begin(third)).toMatchObject({ waitMs: 250 });
    await hf.close();
  });

  it("waits for a place whose job is on its way, and not for ever: its process may be gone", async () => {
    const { t, hf, order, add, begin } = desk();
    const missing = (await order.take("p"))!;
    const second = await add();
    expect(await begin(second)).toMatchObject({ waitMs: 250 });
    await t.advance(30_000);
    expect(await begin(second)).toEqual({ waitMs: null, stale: new Set() });
    // It was stored after all: it comes after the one that went past it, and leaves its values alone.
    const late = { id: "late", meta: { place: missing }, createdAt: new Date(t.now()) };
    expect(await begin(late)).toMatchObject({ waitMs: expect.any(Number) as number });
    await order.wrote("p", second, ["tier"]);
    await hf.cancel(second.id);
    expect(await begin(late)).toEqual({ waitMs: null, stale: new Set(["tier"]) });
    await hf.close();
  });

  it("knows a job by its place where its process died before it could name it", async () => {
    const { t, hf, order, line, begin } = desk();
    const place = (await order.take("p"))!;
    const job = { id: "a", meta: { place }, createdAt: new Date(t.now()) };
    expect(await begin(job)).toEqual({ waitMs: null, stale: new Set() });
    expect((await line())?.places).toEqual([[place, "a", place]]);
    await hf.close();
  });

  it("lets one of two start that both see the other finished", async () => {
    const { hf, add, begin } = desk();
    const [first, second] = [await add(), await add()];
    await hf.cancel(first.id);
    const both = Promise.all([begin(second), begin(first)]);
    await both;
    // Whoever comes second is behind: retried, the first one has to wait for the other.
    expect(await begin(second)).toEqual({ waitMs: null, stale: new Set() });
    expect(await begin(first)).toMatchObject({ waitMs: expect.any(Number) as number });
    await hf.close();
  });

  it("moves a job to the end when the same is asked for again, unless it says something else", async () => {
    const { hf, order, line, add } = desk();
    const [first, second] = [await add(), await add()];
    const ids = async () => (await line())?.places.map(([, id]) => id);
    await order.repeat("p", first.id, { other: true });
    expect(await ids()).toEqual([first.id, second.id]);
    await order.repeat("p", first.id, null);
    expect(await ids()).toEqual([second.id, first.id]);
    await hf.close();
  });

  it("gives a place back that nothing came of", async () => {
    const { hf, order, line } = desk();
    const place = (await order.take("p"))!;
    await order.giveBack("p", place);
    expect((await line())?.places).toEqual([]);
    await hf.close();
  });

  it("compares a job that was made without a place by its age", async () => {
    const { t, hf, order, add, begin } = desk();
    const older = { id: "in a transaction", meta: null, createdAt: new Date(t.now()) };
    await t.advance(10);
    const job = await add();
    await begin(job);
    await order.wrote("p", job, ["tier", "phone"]);
    await hf.cancel(job.id);
    expect(await begin(older)).toEqual({ waitMs: null, stale: new Set(["tier"]) });
    await t.advance(10);
    const younger = { ...older, id: "another", createdAt: new Date(t.now()) };
    expect(await begin(younger)).toEqual({ waitMs: null, stale: new Set() });
    await hf.close();
  });

  it("has places for so many; others join when one becomes free", async () => {
    const { t, hf, order, line, begin } = desk();
    for (let count = 0; count < MOST_PLACES; count += 1) await order.take("p");
    expect(await order.take("p")).toBeNull();
    const job = { id: "one more", meta: null, createdAt: new Date(t.now()) };
    expect(await begin(job)).toMatchObject({ waitMs: expect.any(Number) as number });
    await t.advance(30_000);
    expect(await begin(job)).toEqual({ waitMs: null, stale: new Set() });
    expect((await line())?.places).toHaveLength(1);
    await hf.close();
  });

  it("has one enqueue of this process after the other, also past one that failed", async () => {
    const { hf, order } = desk();
    const taken: (number | null)[] = [];
    const all = Array.from({ length: 20 }, (_, at) =>
      order.inLine("p", async () => {
        if (at === 7) throw new Error("refused");
        taken.push(await order.take("p"));
      }),
    );
    const ends = await Promise.allSettled(all);
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(taken).toEqual(taken.toSorted((a, b) => a! - b!));
    await hf.close();
  });

  it("has a key for whatever a record is called, and another one for each", async () => {
    const { hf, order } = desk();
    expect(await order.take("half \ud800 a letter")).not.toBeNull();
    const long = "é".repeat(600);
    const [one, other] = [await order.take(`${long}1`), await order.take(`${long}2`)];
    await order.giveBack(`${long}1`, one!);
    const { records } = await hf.records.list<RecordLine>({ prefix: "crm/desk/line/%C3" });
    expect(records.map(({ value }) => value.places.length).toSorted((a, b) => a - b)).toEqual([
      0, 1,
    ]);
    expect(other).not.toBeNull();
    await hf.close();
  });
});
