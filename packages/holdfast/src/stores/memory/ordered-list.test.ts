import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrderedList } from "./ordered-list.ts";

interface Item {
  readonly seq: number;
  deleted: boolean;
}

function listOf(seqs: readonly number[]): { list: OrderedList<Item>; items: Item[] } {
  const list = new OrderedList<Item>((a, b) => a.seq < b.seq);
  const items = seqs.map((seq) => ({ seq, deleted: false }));
  for (const item of items) list.add(item);
  return { list, items };
}

function read(list: OrderedList<Item>, limit: number, after: number | null): number[] {
  const start = after === null ? 0 : list.firstIndex((item) => item.seq > after);
  const wants = () => true;
  const { items } = list.scan({ start, direction: "up", limit, lookAtMost: Infinity, wants });
  return items.map((item) => item.seq);
}

describe("an ordered list", () => {
  it("keeps its order and loses nothing, whatever is added and deleted", () => {
    const seqs = fc.uniqueArray(fc.nat({ max: 500 }), { maxLength: 60 });
    fc.assert(
      fc.property(seqs, fc.array(fc.nat(), { maxLength: 60 }), (some, picks) => {
        const { list, items } = listOf(some);
        for (const pick of picks) {
          const item = items[pick % Math.max(1, items.length)];
          if (item !== undefined && !item.deleted) list.delete(item);
        }
        const left = items.filter((item) => !item.deleted).map((item) => item.seq);
        expect(read(list, Infinity, null)).toEqual(left.toSorted((a, b) => a - b));
      }),
    );
  });

  it("goes on behind a cursor whose item has been deleted", () => {
    const { list, items } = listOf([1, 2, 3, 4, 5]);
    for (const item of items.slice(0, 3)) list.delete(item);
    expect(read(list, 10, 2)).toEqual([4, 5]);
  });

  it("stops after so many looked at and says where", () => {
    const { list } = listOf([1, 2, 3, 4]);
    const wants = () => false;
    const scanned = list.scan({ start: 3, direction: "down", limit: 9, lookAtMost: 2, wants });
    expect(scanned.items).toEqual([]);
    expect(scanned.last?.seq).toBe(3);
  });

  it("gives nothing for a limit of 0 or less", () => {
    const { list } = listOf([1, 2]);
    expect(read(list, 0, null)).toEqual([]);
    expect(read(list, -1, null)).toEqual([]);
  });
});
