import { describe, expect, it, vi } from "vitest";
import { ClosedError } from "../core/errors.ts";
import { VirtualTime } from "../testing/virtual-time.ts";
import { Chores } from "./chores.ts";

describe("a chore that is in the middle of its work when all is closed", () => {
  it("may meet a closed store, and that is no error; anything else is", async () => {
    for (const [error, told] of [
      [new ClosedError("the store is closed"), 0],
      [new Error("no such table"), 1],
    ] as const) {
      const time = new VirtualTime();
      const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
      const ended = Promise.withResolvers<never>();
      const beat = { name: "beat", everyMs: 100, runsIn: "everywhere", run: () => ended.promise };
      const runtime = time.runtime({ alive: () => true });
      const chores = new Chores({ runtime, logger, chores: () => [beat as never] });
      chores.open();
      await time.advance(200);
      chores.close();
      ended.reject(error);
      await time.advance(10);
      expect(logger.error).toHaveBeenCalledTimes(told);
    }
  });
});
