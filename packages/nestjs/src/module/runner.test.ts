import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Logger } from "@nestjs/common";
import { StoreUnavailableError, type Holdfast, type Worker } from "holdfast";
import { QueueWorkerService } from "../queue/queue-worker-service.ts";
import { HoldfastRunner } from "./runner.ts";

beforeEach(() => {
  vi.useFakeTimers();
  Logger.overrideLogger(false);
});
afterEach(() => {
  vi.useRealTimers();
  Logger.overrideLogger(["log", "error", "warn"]);
});

it("a resilient application works once its store can be used, whatever was wrong with it before", async () => {
  const wrongs = [
    new StoreUnavailableError("the store is away", { mayHaveHappened: false }),
    new Error("another process changes the schema"),
  ];
  const stop = vi.fn(async () => {});
  const work = vi.fn(async () => {
    const wrong = wrongs.shift();
    if (wrong) throw wrong;
    return { stop } as unknown as Worker;
  });
  const hf = { work, tools: { workQueues: () => ["mail"] } } as unknown as Holdfast;
  const runner = new HoldfastRunner({
    ...{ hf, worker: new QueueWorkerService(hf, "default"), startsWorkers: true },
    options: { url: "memory:", resilient: "inline" },
  });
  await runner.onApplicationBootstrap();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(work).toHaveBeenCalledTimes(3);
  await runner.onModuleDestroy();
  expect(stop).toHaveBeenCalledTimes(1);
});
