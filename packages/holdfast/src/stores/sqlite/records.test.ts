import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { sqliteStore } from "./index.ts";

describe("records", () => {
  it("are listed by code unit, whatever characters their keys are made of", async () => {
    const store = sqliteStore({ file: ":memory:" });
    await store.open();
    // UTF-8 would sort the emoji behind the private and the full-width characters.
    const keys = [
      "a",
      "z",
      "é",
      "\uD7FF",
      "😀",
      "\u{10FFFF}",
      "\uE000",
      "Ａ",
      "\uFFFD",
      "\uFFFF",
      "Ａb",
    ];
    const swaps = keys.map((key) => ({ key, expect: null, value: `"${key}"`, ttlMs: null }));
    assert.ok((await store.records.swap(swaps)).every(({ swapped }) => swapped));
    const listed: string[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await store.records.scan({ prefix: "", limit: 2, cursor });
      listed.push(...page.records.map((record) => record.key));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    assert.deepEqual(listed, keys.toSorted());
    const values = await store.records.read(keys);
    assert.deepEqual(
      values.map((record) => record?.value),
      keys.map((key) => `"${key}"`),
    );
    const { records } = await store.records.scan({ prefix: "Ａ", limit: 9 });
    assert.deepEqual(
      records.map((record) => record.key),
      ["Ａ", "Ａb"],
    );
    await store.close();
  });
});
