import { Holdfast } from "holdfast";
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
