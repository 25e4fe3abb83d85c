import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { AttemptView, ExtensionHost } from "../../engine/extension.ts";
import { memoryStore } from "../../stores/memory/index.ts";
import { VirtualTime } from "../../testing/virtual-time.ts";
import { LIVE, livePart, MINUTE_MS, scanAll } from "./stats-records.ts";
import { StatsWriter } from "./stats-writer.ts";

async function world() {
  const time = new VirtualTime();
  const store = memoryStore({ now: () => time.now });
  await store.open();
  const link = { isAway: false, losesReplies: false };
  const { records } = store;
  const swap: typeof records.swap = async (swaps) => {
    const lost = (mayHaveHappened: boolean) => new StoreUnavailableError("", { mayHaveHappened });
    if (link.isAway) throw lost(false);
    const results = await records.swap(swaps);
    if (link.losesReplies) throw lost(true);
    return results;
  };
  const said: string[] = [];
  const host = {
    ...{ runtime: time.runtime(), records: { ...records, swap }, workers: { id: "p" } },
    logger: { warn: (message: string) => said.push(message) },
  } as unknown as ExtensionHost;
  const writer = new StatsWriter({ host, onStored: () => {} });
  return {
    ...{ time, link, said, writer },
    count(times: number, type = "send") {
      const attempt = { queue: "mail", type, fence: time.now * 1_000 } as AttemptView;
      for (let at = 0; at < times; at += 1) {
        writer.count(attempt, "succeed", { waitedMs: 1, ranMs: 2 });
      }
    },
    async stored(): Promise<number> {
      const parts = (await scanAll(records, LIVE)).map(livePart);
      return parts.flatMap(({ rows }) => rows).reduce((sum, row) => sum + row[2], 0);
    },
    parts: async () => (await scanAll(records, LIVE)).length,
  };
}

describe("what a process counts", () => {
  it("is stored two seconds later, minute after minute", async () => {
    const { time, count, stored, parts } = await world();
    for (let minute = 1; minute <= 30; minute += 1) {
      count(3);
      await time.advance(2_000);
      expect(await stored()).toBe(3 * minute);
      await time.advance(MINUTE_MS - 2_000);
    }
    expect(await parts()).toBe(30);
  });

  it("is kept while the store is away, in ten minutes at most, and told once", async () => {
    const { time, link, said, count, stored, parts } = await world();
    link.isAway = true;
    for (let minute = 1; minute <= 30; minute += 1) {
      count(3);
      await time.advance(MINUTE_MS);
    }
    expect(said).toEqual(["statistics cannot be stored now"]);
    link.isAway = false;
    await time.advance(2_000);
    expect(await stored()).toBe(90);
    expect(await parts()).toBe(10);
  });

  it("is stored once, also if the reply to a write got lost", async () => {
    const { time, link, writer, count, stored } = await world();
    count(3);
    link.losesReplies = true;
    await time.advance(2_000);
    count(4);
    link.losesReplies = false;
    await writer.close();
    expect(await stored()).toBe(7);
    count(1);
    await time.advance(10_000);
    expect(time.nextTimerInMs).toBeNull();
  });
});
