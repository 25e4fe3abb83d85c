import { describe, expect, it } from "vitest";
import { shardName, shardOf } from "./shards.ts";

const keys = Array.from({ length: 10_000 }, (_, at) => `tenant-${at}`);

describe("a shard", () => {
  it("follows from the key alone", () => {
    expect(keys.slice(0, 12).map((key) => shardOf(key, 8))).toMatchInlineSnapshot(`
      [
        6,
        3,
        7,
        2,
        2,
        1,
        1,
        4,
        0,
        5,
        3,
        7,
      ]
    `);
    expect(shardName("mail", 3)).toBe("mail:3");
    expect(keys.every((key) => shardOf(key, 1) === 0)).toBe(true);
  });

  it("gets its fair share of keys", () => {
    const counts = Array.from({ length: 8 }, () => 0);
    for (const key of keys) counts[shardOf(key, 8)] = counts[shardOf(key, 8)]! + 1;
    for (const count of counts) expect(Math.abs(count - 1_250)).toBeLessThan(180);
  });

  it("keeps its keys when there are more shards, but for those that go to the new ones", () => {
    const moved = keys.filter((key) => shardOf(key, 8) !== shardOf(key, 10));
    expect(moved.every((key) => shardOf(key, 10) >= 8)).toBe(true);
    expect(Math.abs(moved.length - 2_000)).toBeLessThan(200);
  });
});
