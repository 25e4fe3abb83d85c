import { expect, it } from "vitest";
import { KeyIndex } from "./key-index.ts";

it("knows the row that had a key last, of as many keys as a sheet can have", () => {
  const index = new KeyIndex();
  for (let row = 1; row <= 50_000; row += 1) expect(index.put(`key ${row}`, row)).toBe(0);
  expect(index.size).toBe(50_000);
  expect(index.put("key 7", 60_000)).toBe(7);
  expect(index.put("key 7", 60_001)).toBe(60_000);
  expect(index.put("key 50000", 60_002)).toBe(50_000);
  expect(index.size).toBe(50_000);
});
