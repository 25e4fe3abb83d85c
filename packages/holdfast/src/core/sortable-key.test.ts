import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { fromSortable, sortable } from "./sortable-key.ts";

const keys = fc.string({ unit: "grapheme" });

describe("a sortable key", () => {
  it("comes back as it went in", () => {
    fc.assert(fc.property(keys, (key) => fromSortable(sortable(key)) === key));
    for (const key of ["", "\u{10FFFF}", "\u{10FFFF}\u0001", "\uE000\uFFFF😀"]) {
      expect(fromSortable(sortable(key))).toBe(key);
    }
  });

  it("sorts by bytes as the key does by code units", () => {
    const bytes = (key: string) => Buffer.from(sortable(key), "utf8");
    const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    fc.assert(
      fc.property(
        keys,
        keys,
        (a, b) => Math.sign(Buffer.compare(bytes(a), bytes(b))) === order(a, b),
      ),
    );
    expect(
      ["😀", "\uFFFF", "\uE000", "z"].toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))),
    ).toEqual(["😀", "\uFFFF", "\uE000", "z"].toSorted());
  });
});
