import { Holdfast, StoreUnavailableError } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { expect, it } from "vitest";
import { RecordsDesk } from "./records-desk.ts";

it("a change that throws is refused alone, and those of the same moment are done", async () => {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const desk = new RecordsDesk(hf.records);
  const add = (count: number) => (value: number | null) =>
    [(value ?? 0) + count, (value ?? 0) + count] as const;
  const refuse = () => {
    throw new Error("it is completed");
  };
  const done = await Promise.allSettled([
    desk.update("here", add(1)),
    desk.update("here", refuse),
    desk.update("here", add(2)),
    desk.update("elsewhere", add(5)),
  ]);
  const told = done.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)));
  expect(told).toEqual([1, "Error: it is completed", 3, 5]);
  expect(await desk.readAll(["here", "elsewhere"])).toEqual([3, 5]);
  await hf.close();
});

it("a record that is too large is refused alone", async () => {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const desk = new RecordsDesk(hf.records);
  const put = (value: string) => () => [value, value.length] as const;
  const done = await Promise.allSettled([
    desk.update("large", put("x".repeat(100_000))),
    desk.update("small", put("x")),
  ]);
  expect(done.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(await desk.readAll(["large", "small"])).toEqual([null, "x"]);
  await hf.close();
});

it("a store that is read and takes no change is away: the change is refused after a few tries", async () => {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const { records } = hf;
  let tries = 0;
  const swap: typeof records.swap = (swaps) => {
    tries += 1;
    if (tries > 20) return records.swap(swaps);
    throw new StoreUnavailableError("it is a replica", { mayHaveHappened: false });
  };
  const read = records.read.bind(records);
  const desk = new RecordsDesk({ read, swap: async (all) => swap(all) } as typeof records);
  const change = desk.update("here", () => [1, 1] as const);
  await expect(change).rejects.toThrow(StoreUnavailableError);
  expect(tries).toBe(4);
  await hf.close();
});
