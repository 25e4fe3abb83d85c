import { expect, it } from "vitest";
import { Holdfast } from "../holdfast.ts";
import { memoryStore } from "../stores/memory/index.ts";

it("what a store says of itself is not asked for with each job: on SQLite that reads from the file", async () => {
  let asked = 0;
  const plain = memoryStore();
  const store = { ...plain, info: () => ((asked += 1), plain.info()) };
  const hf = new Holdfast({ store });
  hf.define({ type: "note", run: () => {} });
  const worker = await hf.work();
  const before = asked;
  const receipts = await Promise.all(
    Array.from({ length: 100 }, (_, at) => hf.enqueue("note", { at })),
  );
  for (const receipt of receipts) await hf.waitFor(receipt);
  expect(asked - before).toBeLessThan(10);
  await worker.stop();
  await hf.close();
});
