/** Where jobs of simulations are found. */
import { expect, it } from "vitest";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { Pacing } from "./pacing.ts";

it("takes every shard and every kind of activity, also by a worker that names no queues", async () => {
  const hf = new Holdfast({ store: memoryStore() });
  const pacing = new Pacing(hf, { create: () => {}, act: () => {}, shards: 3 });
  expect(hf.tools.workQueues().toSorted()).toEqual(pacing.queues().toSorted());
  expect(hf.tools.workQueues()).toContain("simulation-jobs:2");
  await hf.close();
});
