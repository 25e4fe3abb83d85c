import { describe, expect, it } from "vitest";
import { Holdfast } from "../holdfast.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { VirtualTime } from "../testing/virtual-time.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe("the upkeep of a process", () => {
  it("renews its record also while many queues are looked at that it does not know", async () => {
    const time = new VirtualTime();
    const store = memoryStore({ now: () => time.now });
    const process = (own: typeof store) =>
      new Holdfast({ store: own, runtime: time.runtime(), logger });
    const looking = process({
      ...store,
      async lines(queue, page) {
        await new Promise<void>((resolve) => void time.timer(1_000, resolve));
        return store.lines(queue, page);
      },
    });
    const queues = Array.from({ length: 60 }, (_, at) => `tenant-${at}`);
    const working = looking.work({ queues });
    await time.advance(1_000);
    await working;
    const other = process(store);
    // Long after the record would be gone.
    await time.advance(45_000);
    const listing = other.workers.list();
    await time.settle();
    expect(await listing).toHaveLength(1);
    for (const hf of [looking, other]) {
      let isClosed = false;
      const closing = hf.close({ graceMs: 0 }).then(() => (isClosed = true));
      while (!isClosed) await time.advance(1_000);
      await closing;
    }
  });
});
